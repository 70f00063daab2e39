/**
 * How programs that run agents use the tools. They pass schemas on to models, some of which know only a part of JSON Schema. These
 * programs send arguments as the model wrote them, and abort a call that reports no progress for a while.
 */
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { inDialect } from "../../account.ts"
import { Effect } from "effect"
import { methods, order, startAgent } from "./Agent.ts"

type Json = Readonly<Record<string, unknown>>

interface Listed {
  readonly name: string
  readonly description: string
  readonly inputSchema: Json
  readonly outputSchema: Json
}

/** The keywords that Gemini, OpenAI and Anthropic accept in the schema of a function's arguments. */
const keywords = new Set(["type", "description", "enum", "items", "properties", "required", "minimum", "maximum"])

const types = new Set(["string", "integer", "number", "boolean", "array", "object"])

/** The parts of a schema that these services refuse, each with its path. */
const faults = (schema: Json, path: string): ReadonlyArray<string> => {
  const { enum: choices, items, properties = {}, required = [], type } = schema
  const inner = Object.entries(properties as Readonly<Record<string, Json>>)
  return [
    ...(typeof type === "string" && types.has(type) ? [] : [`${path}: its type is ${JSON.stringify(type)}`]),
    ...Object.keys(schema).flatMap((keyword) => (keywords.has(keyword) ? [] : [`${path}: ${keyword}`])),
    // Gemini accepts only strings as choices, and no empty string.
    ...(choices === undefined ||
    (Array.isArray(choices) && choices.every((text) => typeof text === "string" && text !== ""))
      ? []
      : [`${path}: enum`]),
    ...((type === "array") === (items !== undefined) ? [] : [`${path}: items`]),
    ...((required as ReadonlyArray<string>).every(
      (name) => path.includes(" output") || Object.hasOwn(properties as Json, name)
    )
      ? []
      : [`${path}: required`]),
    ...inner.flatMap(([name, each]) => [
      ...(/^[A-Za-z_][\w-]{0,63}$/.test(name) ? [] : [`${path}: the name ${name}`]),
      ...faults(each, `${path}.${name}`)
    ]),
    ...(items === undefined ? [] : faults(items as Json, `${path}[]`))
  ]
}

const everything = ["--allow", "create,delete,commit"]

describe("the schemas of the tools", () => {
  it.live.each([["2025-11-25"], ["2026-07-28"]])(
    "of revision %s are in the part that all hosts know",
    ([revision = ""]) =>
      Effect.gen(function* () {
        const agent = yield* startAgent(everything, { revision })
        const { result } = yield* Effect.promise(() => agent.request("tools/list"))
        for (const { description, inputSchema, name, outputSchema } of result["tools"] as ReadonlyArray<Listed>) {
          assert.match(name, /^[a-zA-Z_][\w-]{0,63}$/)
          assert.isAtMost(description.length, 1024)
          // Gemini refuses an object without properties.
          assert.isNotEmpty(inputSchema["properties"])
          assert.deepStrictEqual([...faults(inputSchema, name), ...faults(outputSchema, `${name} output`)], [])
        }
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("what a model writes", () => {
  it.live("may be null for what it leaves out, and a text for a number or for true", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything)
      const ask = (name: string, args: object) => Effect.promise(() => agent.call(name, args))
      const listed = yield* ask("list_nodes", { limit: "1", name: null, offset: " 0 ", plan: null, status: null })
      const [{ id } = { id: 0 }] = listed.structuredContent["nodes"] as ReadonlyArray<{ readonly id: number }>
      assert.lengthOf(listed.structuredContent["nodes"] as ReadonlyArray<unknown>, 1)
      for (const node of [id, String(id)]) {
        assert.strictEqual((yield* ask("get_node", { node })).structuredContent["id"], id)
      }
      assert.isFalse((yield* ask("list_images", { saved: "false", limit: null })).isError)
      assert.isFalse((yield* ask("account", { by: null })).isError)
      assert.isFalse((yield* ask("list_nodes", { name: 7 })).isError)
      const proposed = yield* ask("propose", {
        ...order,
        name: "web",
        backups: "true",
        sku: null,
        node: null,
        setting: null,
        tags: null
      })
      assert.isFalse(proposed.isError, proposed.content[0]?.text)
      assert.include(JSON.stringify(proposed.structuredContent["proposal"]), `backups`)
      assert.notProperty(proposed.structuredContent, "node")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("is refused with a sentence if it is neither", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything)
      for (const [name, args, says] of [
        ["list_nodes", { limit: "five" }, "The argument limit is not usable: expected a whole number from 1 to 200."],
        ["list_nodes", { limit: "0x10" }, "The argument limit is not usable"],
        ["list_nodes", { limit: "" }, "The argument limit is not usable"],
        ["list_images", { saved: "yes" }, "The argument saved is not usable: expected true or false."],
        ["get_node", { node: null }, "The argument node is not usable: it is required."]
      ] as const) {
        const { content, isError } = yield* Effect.promise(() => agent.call(name, args))
        assert.isTrue(isError, says)
        assert.include(content[0]?.text, says)
      }
      assert.isEmpty(yield* methods)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("a call that takes its time", () => {
  const progressOf = (lines: ReadonlyArray<string>) =>
    lines.flatMap((line) => {
      const { method, params } = JSON.parse(line)
      return method === "notifications/progress" ? [params] : []
    })

  it.live.each([["2025-11-25"], ["2026-07-28"]])(
    "says so every few seconds to a caller of revision %s that gave a token",
    ([revision = ""]) =>
      Effect.gen(function* () {
        const agent = yield* startAgent([], { revision })
        const wait = { name: "wait", arguments: { node: "fleet-1", for: "deleted", seconds: 6 } }
        const [token, silent] = yield* Effect.promise(() =>
          Promise.all([
            agent.request("tools/call", { ...wait, _meta: { progressToken: "t" } }),
            agent.request("tools/call", wait)
          ])
        )
        assert.include(token.result.content[0]?.text, "after 6")
        assert.include(silent.result.content[0]?.text, "after 6")
        assert.deepStrictEqual(progressOf(agent.lines), [
          { progressToken: "t", progress: 5, message: "wait is still running after 5 s." }
        ])
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1 } }))))
  )
})
