import { defineConfig } from "vitest/config"

/** The tests that take minutes and a machine of their own: a run of its own, `pnpm soak`. */
export default defineConfig({
  test: {
    include: ["apps/*/test/**/*.soak.ts", "tests/**/*.soak.ts"],
    globalSetup: "scripts/bundleForTests.ts",
    passWithNoTests: false,
    testTimeout: 300_000
  }
})
