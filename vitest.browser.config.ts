import { defineConfig } from "vitest/config"

/** The tests that need a Chromium, which not every machine has: they are a run of their own, `pnpm test:browser`. */
export default defineConfig({
  test: {
    include: ["apps/*/test/**/*.browser.ts", "tests/**/*.browser.ts"],
    globalSetup: ["scripts/bundleForTests.ts", "tests/install/runtimes.ts"],
    passWithNoTests: false,
    testTimeout: 60_000
  }
})
