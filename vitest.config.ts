import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", { test: { name: "workspace", include: ["test/**/*.test.ts"] } }],
    // Tests of the binaries start bundles: whichever way the tests are started, those are never stale.
    globalSetup: "scripts/bundleForTests.ts",
    // Thousands of random cases take their time on a busy machine; what hangs is still found.
    testTimeout: 30_000,
    passWithNoTests: false
  }
})
