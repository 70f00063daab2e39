import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", "tests"],
    // Tests of the binaries start bundles: whichever way the tests are started, those are never stale.
    globalSetup: "scripts/bundleForTests.ts",
    passWithNoTests: false
  }
})
