/** The examples in the docstrings of the services of client and mock, run against the mock service: each example prints what its comments say. */
import { readFileSync } from "node:fs"
import * as Berth from "@berthkit/core/client/Berth"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"

const core = new URL("../../packages/core/", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, core), "utf8")

/** The modules that other programs import, each with its source. */
const published = Object.keys(
  (JSON.parse(read("package.json")) as { readonly publishConfig: { readonly exports: object } }).publishConfig.exports
).flatMap((entry) => (entry.startsWith("./client/") ? [[entry, read(`src/${entry}.ts`)] as const] : []))

interface Example {
  readonly name: string
  readonly code: string
}

/** The examples of the services that a module defines. A service without an example has no code. */
const examplesIn = (source: string): ReadonlyArray<Example> =>
  Array.from(source.matchAll(/^export class (\w+) extends Context\.Service</gm), ({ 1: name, index }) => {
    const docstring = source.slice(source.lastIndexOf("/**", index), index)
    const [, lines = ""] = /^ \* @example\n \* ```ts\n([^]*?)^ \* ```$/m.exec(docstring) ?? []
    return { name: name!, code: lines.replaceAll(/^ \* ?/gm, "") }
  })

const ofServer = readFileSync(new URL("../../apps/server/src/testing.ts", import.meta.url), "utf8")

const examples = [...published.map(([, source]) => source), ofServer].flatMap(examplesIn)

/** The expected output: the comments at the ends of lines. */
const printedBy = (code: string) => Array.from(code.matchAll(/\S.* \/\/ (.+)$/gm), ([, text]) => text)

type Program = Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof Berth.layer>>>

/** The `program` that an example defines. */
const programOf = async (code: string): Promise<Program> => {
  const modules: Record<string, unknown> = {}
  const body = code.replaceAll(/^import (?:\* as )?(.+) from "(.+)"$/gm, (_, names: string, module: string) => {
    modules[module] = undefined
    return `const ${names} = modules[${JSON.stringify(module)}]`
  })
  for (const module of Object.keys(modules)) modules[module] = await import(/* @vite-ignore */ module)
  // The code comes from our own docstring.
  return new Function("modules", `${body}\nreturn program`)(modules) as Program
}

const client = Berth.layer({
  baseUrl: "http://berth.test",
  credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
})
const service = TestServer.layerHttpClient({ clock: "real", auth: "off" })

describe("the example in the docstring of", () => {
  it("every service is there", () => {
    assert.includeMembers(
      examples.map(({ name }) => name),
      ["Nodes", "Images", "Plans", "Allowance", "RawApi", "Transport", "TestServer"]
    )
    assert.deepStrictEqual(
      examples.filter(({ code }) => code === "").map(({ name }) => name),
      []
    )
  })

  it.effect.each(examples)("$name prints what it says", ({ code }) =>
    Effect.gen(function* () {
      const printed: Array<string> = []
      const noting = { ...console, log: (...args: ReadonlyArray<unknown>) => void printed.push(args.join(" ")) }
      const program = yield* Effect.promise(() => programOf(code))
      const fiber = yield* program.pipe(
        Effect.provide(Layer.provideMerge(client, service)),
        Effect.provideService(Console.Console, noting),
        Effect.forkChild
      )
      while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.isNotEmpty(printed)
      assert.deepStrictEqual(printed, printedBy(code))
    })
  )
})
