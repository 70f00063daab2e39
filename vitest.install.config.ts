import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

/** The packages with other package managers and on other runtimes, which it installs: a run of its own, `pnpm test:install`. */
export default defineConfig({
  test: {
    ...shared,
    maxWorkers: availableParallelism(),
    include: ["tests/install/*.install.ts"],
    globalSetup: "tests/install/runtimes.ts"
  }
})
