import { defineConfig } from "vitest/config"

/** The tests of the OpenAPI description with generators, linters and a proxy from npm: a run of its own, `pnpm test:document`. */
export default defineConfig({
  test: {
    include: ["tests/document/*.document.ts"],
    globalSetup: ["scripts/bundleForTests.ts", "tests/document/installTools.ts"],
    passWithNoTests: false,
    testTimeout: 60_000
  }
})
