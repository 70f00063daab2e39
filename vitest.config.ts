import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { shared } from "./vitest.shared.ts"

const workspaces = globSync(["packages/*", "apps/*", "tests", "bench"], { cwd: import.meta.dirname })

const nameOf = (root: string): string => JSON.parse(readFileSync(join(root, "package.json"), "utf8")).name

export default defineConfig({
  test: {
    projects: workspaces.map((workspace) => {
      const root = join(import.meta.dirname, workspace)
      // A worker loads Effect and the sources once for all its files: most of the time of a run went into loading them.
      return { root, test: { ...shared, name: nameOf(root), isolate: false } }
    }),
    // Many tests wait for more than half of their time.
    maxWorkers: availableParallelism() + 3,
    // Tests of the binaries start bundles: whichever way the tests are started, those are never stale.
    globalSetup: "scripts/bundleForTests.ts",
    passWithNoTests: false
  }
})
