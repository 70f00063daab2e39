import { randomInt } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { shared } from "./vitest.shared.ts"

const testing = join(import.meta.dirname, "packages/testing/src")
const manyRuns = join(testing, "manyRuns.ts")

/** Files that `pnpm test` or `pnpm test:machine` runs, too: those with properties, that do a part there, or that bound real time. */
const further = globSync(
  [
    "packages/*/test/**/*.{test,machine}.ts",
    "apps/*/test/**/*.{test,machine}.ts",
    "tests/**/*.{test,machine}.ts",
    "bench/test/**/*.test.ts"
  ],
  {
    cwd: import.meta.dirname,
    exclude: ["**/node_modules/**"]
  }
).filter((file) =>
  readFileSync(join(import.meta.dirname, file), "utf8").match(/"(fast-check|@berth\/testing\/(chance|stopwatch))"/)
)

/** Without times of an earlier run, Vitest begins with the largest files; the longest runs here are the smallest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith(".soak.ts")
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

// In this process, too: a config is read again where Vitest restarts.
const seed = (process.env["SEED"] ??= String(randomInt(2 ** 31)))
const runs = (process.env["RUNS"] ??= "100")

/**
 * The tests that take minutes or hours and a machine of their own, and every property of the other tests a hundred times as often:
 * a run of its own, `pnpm soak`. Each run draws a new seed and prints it; `SEED` gives another, `RUNS` another factor.
 */
export default defineConfig({
  plugins: [
    {
      name: "many-runs",
      enforce: "pre",
      buildStart: () => void process.stdout.write(`SEED=${seed} RUNS=${runs}\n`),
      resolveId: (source, importer) => (source === "fast-check" && importer !== manyRuns ? manyRuns : undefined)
    }
  ],
  test: {
    ...shared,
    maxWorkers: availableParallelism(),
    include: ["{apps,packages}/*/test/**/*.soak.ts", "tests/**/*.soak.ts", ...further],
    globalSetup: "scripts/bundleForTests.ts",
    sequence: { sequencer: LongestFirst },
    env: { SOAK: "1", SEED: seed, RUNS: runs },
    // A property may take an hour: nothing here is taken to hang.
    testTimeout: 0
  }
})
