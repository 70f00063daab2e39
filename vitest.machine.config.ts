import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

/**
 * The tests that need Linux and root, for namespaces, file systems and terminals of their own, or jest from npm, those that start and
 * kill many processes, and those of snapshots of 50 000 nodes: a run of its own, `pnpm test:machine`.
 */
export default defineConfig({
  test: {
    ...shared,
    maxWorkers: availableParallelism(),
    include: ["packages/*/test/**/*.machine.ts", "apps/*/test/**/*.machine.ts", "tests/**/*.machine.ts"],
    globalSetup: "scripts/bundleForTests.ts"
  }
})
