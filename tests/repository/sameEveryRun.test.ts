/**
 * Finds code that would make `pnpm test` differ between runs or machines: randomness without a seed, bounds on real time, and limits that
 * a busy machine exceeds.
 */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it, vi } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

const tests = globSync(["packages/*/test/**/*.test.ts", "apps/*/test/**/*.test.ts", "tests/**/*.test.ts"], {
  cwd: root,
  exclude: ["**/node_modules/**"]
}).map((file) => ({ file, text: readFileSync(`${root}/${file}`, "utf8") }))

describe("no test of the test command", () => {
  it.each([
    ["draws chance that has no seed", /\b(randomInt|randomBytes|getRandomValues)\(|\bseed: Date\.now/],
    [
      "bounds real time (`startStopwatch` does, in `pnpm soak`)",
      /\b(expect|assert\.is\w+)\((performance|Date)\.now\(\)|Effect\.timed\(/
    ],
    [
      "has a limit on time of its own (`vitest.config.ts` has minutes for all)",
      /[)}],\n +\d{1,3}_000\n *\)|^ *\}, \d{2,3}_000\)$|", \{ timeout: \d+_?000 \}, |waitUntil\(|waitFor\(/m
    ]
  ])("%s", (_, pattern) => {
    expect(
      tests.flatMap(({ file, text }) => (pattern.test(text) ? [`${file}: ${pattern.exec(text)![0]}`] : []))
    ).toEqual([])
  })
})

describe("the seed of the environment", () => {
  afterEach(() => void vi.unstubAllEnvs())

  it.each([
    ["", 1],
    ["1", 7]
  ])("with SOAK=%j is %j", async (soak, expected) => {
    vi.stubEnv("SEED", "7").stubEnv("SOAK", soak)
    vi.resetModules()
    expect((await import("@berthkit/testing/chance")).seed).toBe(expected)
  })
})
