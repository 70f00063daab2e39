import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

/** The tests of the OpenAPI description with generators, linters and a proxy from npm: a run of its own, `pnpm test:document`. */
export default defineConfig({
  test: {
    ...shared,
    include: ["tests/document/*.document.ts"],
    globalSetup: ["scripts/bundleForTests.ts", "tests/document/installTools.ts"]
  }
})
