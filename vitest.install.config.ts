import { defineConfig } from "vitest/config"

/** The packages with other package managers and on other runtimes, which it installs: a run of its own, `pnpm test:install`. */
export default defineConfig({
  test: {
    include: ["tests/install/*.install.ts"],
    globalSetup: "tests/install/runtimes.ts",
    passWithNoTests: false,
    testTimeout: 120_000,
    hookTimeout: 300_000
  }
})
