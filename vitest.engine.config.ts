import { defineConfig } from "vitest/config"

/** The tests that need a container engine, docker or podman: a run of its own, `pnpm test:engine`. */
export default defineConfig({
  test: {
    include: ["tests/install/*.engine.ts"],
    passWithNoTests: false,
    testTimeout: 120_000
  }
})
