import { randomInt } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { suites } from "./tests/today.ts"

const root = import.meta.dirname
const testing = join(root, "packages/testing/src")
const minute = 60_000

/** Settings that all tests share. */
const shared = {
  // A worker loads Effect and the sources once for all its files, and that takes a quarter of the time of a run.
  isolate: false,
  setupFiles: join(testing, "fixChance.ts"),
  // Limits on time catch only what hangs: a machine that is busy with other things takes its time.
  testTimeout: 5 * minute,
  hookTimeout: 5 * minute,
  expect: { poll: { timeout: 2 * minute } }
}

/** The tests that need npm alone: `pnpm test`. One project for all workspaces, because a worker serves one project. */
const unit: TestProjectInlineConfiguration = {
  test: {
    ...shared,
    name: "unit",
    include: ["{packages,apps}/*/test/**/*.test.ts", "{tests,bench}/**/*.test.ts"]
  }
}

/** A run of its own, `pnpm test:NAME`, of the files that are named for it. */
const apart = (
  name: string,
  globalSetup: ReadonlyArray<string> = [],
  isolate = false
): TestProjectInlineConfiguration => ({
  test: {
    ...shared,
    isolate,
    name,
    include: [`{packages,apps}/*/test/**/*.${name}.ts`, `tests/**/*.${name}.ts`],
    globalSetup: [...globalSetup]
  }
})

/** The suites of `tests/` that make requests, with a mock in today's dialect: `pnpm test:today`. */
const today: TestProjectInlineConfiguration = {
  root: join(root, "tests"),
  test: {
    ...shared,
    name: "today",
    include: [...suites],
    setupFiles: [shared.setupFiles, join(root, "tests/leaveOut.ts")],
    env: { BERTH_TEST_DIALECT: "today" }
  }
}

/** Files of other runs that have properties, that do a part there, or that bound real time. */
const further = globSync(["{packages,apps,bench}/**/*.{test,machine}.ts", "tests/**/*.{test,machine}.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"]
}).filter((file) =>
  readFileSync(join(root, file), "utf8").match(/"(fast-check|@berthkit\/testing\/(chance|stopwatch))"/)
)

const seed = (process.env["SEED"] ??= String(randomInt(2 ** 31)))
const runs = (process.env["RUNS"] ??= "100")
const manyRuns = join(testing, "manyRuns.ts")

/**
 * The tests that take minutes or hours and a machine of their own, and every property of the other tests a hundred times as often:
 * `pnpm soak`. Each run draws a new seed and prints it; `SEED` gives another, `RUNS` another factor.
 */
const soak: TestProjectInlineConfiguration = {
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
    name: "soak",
    include: ["{packages,apps}/*/test/**/*.soak.ts", "tests/**/*.soak.ts", ...further],
    env: { SOAK: "1", SEED: seed, RUNS: runs },
    // A file gets a process of its own, because the bounds on real time count here.
    isolate: true,
    // A property may take an hour: nothing here is taken to hang.
    testTimeout: 0
  }
}

/** Without times of an earlier run, Vitest begins with the largest files; the longest runs are the smallest files. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => moduleId.endsWith(".soak.ts")
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const runtimes = "tests/install/runtimes.ts"

/** One run each: `vitest --project NAME`. */
export default defineConfig({
  test: {
    projects: [
      unit,
      // Needs Linux and root, for namespaces, file systems and terminals of its own, Debian's packages, or memory; starts and kills many processes.
      // These tests change namespaces, signals and clocks, so each file has a process of its own.
      apart("machine", [], true),
      // Generators, linters and a proxy for the OpenAPI description, from npm.
      apart("document", ["tests/document/installTools.ts"]),
      // The packages with other package managers and on other runtimes, from npm.
      apart("install", [runtimes, "tests/install/tarballs.ts"]),
      // Docker or podman.
      apart("engine"),
      today,
      // A Chromium.
      apart("browser", [runtimes, join(testing, "Chromium.ts")]),
      soak
    ],
    // Tests of the binaries start bundles: whichever way the tests are started, those are never stale.
    globalSetup: "scripts/bundleForTests.ts",
    sequence: { sequencer: LongestFirst },
    maxWorkers: availableParallelism(),
    passWithNoTests: false
  }
})
