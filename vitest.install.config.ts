import { defineConfig } from "vitest/config"

/** The tests of the packages as other people install them, with npm: a run of its own, `pnpm test:install`. */
export default defineConfig({
  test: {
    include: ["tests/install/*.install.ts"],
    passWithNoTests: false,
    testTimeout: 60_000,
    hookTimeout: 120_000
  }
})
