/**
 * Vitest loads this before each test file, so that random values are the same on every run, whatever the order of the tests.
 * Properties use the seed. `Math.random`, from which Effect's `Random` draws, restarts from the seed in each test. A test
 * that fails in `pnpm soak` prints how to run it again.
 */
import fc from "fast-check"
import { relative } from "node:path"
import { beforeEach } from "vitest"
import { isSoak, numbersFrom, seed } from "./chance.ts"

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed })
Object.assign(Math, { random: numbersFrom(seed) })

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The command that runs one test again with the same random values. */
const again = (file: string, title: string): string => {
  const variables = ["SEED", "RUNS", "KILLS"].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [`${name}=${value}`]
  })
  const pattern = `^${title.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)}$`
  return [...variables, "pnpm soak", relative(process.cwd(), file), "-t", quoted(pattern)].join(" ")
}

beforeEach(({ onTestFailed, task }) => {
  Object.assign(Math, { random: numbersFrom(seed) })
  if (!isSoak) return
  const titles: Array<string> = []
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) titles.unshift(suite.name)
  // oxlint-disable-next-line no-console -- It is what the person who runs the tests reads.
  onTestFailed(() => console.error(`To run it again: ${again(task.file.filepath, [...titles, task.name].join(" > "))}`))
})
