import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

/** The tests that need a container engine, docker or podman: a run of its own, `pnpm test:engine`. */
export default defineConfig({
  test: {
    ...shared,
    include: ["tests/install/*.engine.ts"]
  }
})
