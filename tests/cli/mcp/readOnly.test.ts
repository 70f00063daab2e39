/**
 * Without `--allow` the server sends only GETs, even if a model calls other tools, and it refuses invalid arguments before it sends
 * anything.
 */
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import * as fc from "fast-check"
import { inDialect } from "../../account.ts"
import { type Agent, changes, methods, order, startAgent } from "./Agent.ts"

const names = ["list_nodes", "get_node", "list_plans", "list_images", "account", "propose", "execute", "wait"]

/** Values that are valid, nearly valid, or invalid for every argument. */
const value = fc.oneof(
  fc.constantFrom<unknown>(1, 97_898, "web", "fleet-*", "create", "delete", "commit", "running", "deleted", true, null),
  fc.constantFrom<unknown>("auto_renew", "C-2VCPU-8RAM-50DISK", "Ubuntu-22.04", "p0123456789abcdefghij", -1, 0.5),
  fc.constantFrom<unknown>("", " ", "x".repeat(5000), "../../x", "\u0000", "__proto__", 1e300, [], {}, [["a"]]),
  fc.string(),
  fc.integer()
)

const argumentNames = [
  "node",
  "name",
  "plan",
  "image",
  "action",
  "setting",
  "sku",
  "proposal",
  "limit",
  "offset",
  "status",
  "by",
  "for",
  "confirm",
  "approve",
  "yes",
  "constructor"
]

const call = fc.record({
  name: fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...names) }, { weight: 1, arbitrary: fc.string() }),
  args: fc.oneof(
    { weight: 12, arbitrary: fc.dictionary(fc.constantFrom(...argumentNames), value, { maxKeys: 5 }) },
    // A call as a model makes it.
    { weight: 4, arbitrary: fc.constant({ ...order, name: "web" }) },
    { weight: 2, arbitrary: fc.constantFrom({ action: "delete", node: 1 }, { proposal: "p0123456789abcdefghij" }) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], "text", 5) }
  )
})

/** A wait would take long, so it gets a limit of one second. */
const soon = ({ args, name }: { readonly name: string; readonly args: unknown }) =>
  name === "wait" && typeof args === "object" && args !== null && !Array.isArray(args)
    ? { name, arguments: { ...args, seconds: 1 } }
    : { name, arguments: args }

const callsPerRun = 4

describe("a server without --allow", () => {
  it.live("sends nothing but GETs, whatever is called", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent([], { person: () => "accept" })
      const property = fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: callsPerRun }), async (calls) => {
        const replies = await Promise.all(calls.map((each) => agent.request("tools/call", soon(each))))
        for (const { error, result } of replies) assert.isTrue(error !== undefined || result.content.length > 0)
      })
      // A soak runs a hundred times as many.
      yield* Effect.promise(() => fc.assert(property, { numRuns: 80 }))
      assert.isEmpty(agent.questions)
      assert.isEmpty(yield* changes)
      assert.isNotEmpty(yield* methods)
      const { result } = yield* Effect.promise(() => agent.request("tools/list"))
      assert.lengthOf(result["tools"] as ReadonlyArray<unknown>, 8)
    }).pipe(
      Effect.scoped,
      Effect.provide(TestServer.layer(inDialect({ rateLimit: { limit: isSoak ? 10_000_000 : 100_000 } })))
    )
  )

  it.live("says how a person approves the proposal", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent([])
      for (const [name, args] of [
        ["propose", { ...order, name: "web" }],
        ["execute", { proposal: "p0123456789abcdefghi" }]
      ] as const) {
        const { content, isError } = yield* Effect.promise(() => agent.call(name, args))
        assert.isTrue(isError)
        assert.include(content[0]?.text, "This server is read-only")
        assert.include(content[0]?.text, "berth mcp --allow create")
      }
      assert.isEmpty(yield* methods)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("what does not fit", () => {
  const refused: ReadonlyArray<readonly [what: string, name: string, args: object, says: string]> = [
    [
      "another type",
      "list_nodes",
      { limit: "five" },
      "The argument limit is not usable: expected a whole number from 1"
    ],
    ["a number with a fraction", "list_nodes", { limit: 1.5 }, "The argument limit is not usable"],
    ["too large a number", "list_nodes", { limit: 1e300 }, "The argument limit is not usable"],
    ["a negative id", "get_node", { node: -1 }, "The argument node is not usable"],
    ["no id at all", "get_node", {}, "The argument node is not usable: it is required."],
    ["a huge text", "get_node", { node: "x".repeat(100_000) }, "The argument node is not usable"],
    ["an unknown argument", "list_nodes", { stauts: "running" }, "did you mean status?"],
    ["an unknown word", "wait", { node: 1, for: "runing" }, "expected one of running"],
    ["a confirmation of the model's own", "execute", { proposal: "p", confirm: true }, "There is no argument confirm."],
    ["a create without a plan", "propose", { action: "create", name: "a", image: "b" }, "To create, give plan."],
    ["a delete of a name for a new node", "propose", { action: "delete", node: 1, name: "a" }, "delete takes no name."]
  ]

  it.live("is refused in a sentence, and nothing is sent", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(["--allow", "create,delete,commit"])
      for (const [what, name, args, says] of refused) {
        const { content, isError } = yield* Effect.promise(() => agent.call(name, args))
        assert.isTrue(isError, what)
        assert.include(content[0]?.text, says, what)
        assert.isBelow(content[0]?.text.length ?? 0, 700, what)
      }
      assert.isEmpty(yield* methods)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  const raw = (agent: Agent, line: string) =>
    Effect.promise(async () => {
      const before = agent.lines.length
      agent.write(line)
      while (agent.lines.length === before)
        await new Promise((resolve) => agent.program.child.stdout.once("data", resolve))
      return JSON.parse(agent.lines[before] ?? "") as {
        readonly error: { readonly code: number }
        readonly id: unknown
      }
    })

  it.live("is answered even if it is no message at all, and the next line is served", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent([])
      for (const [line, code, id] of [
        ["garbage", -32_700, null],
        ["{}", -32_600, null],
        ["[]", -32_600, null],
        ["5", -32_600, null],
        [`{"jsonrpc":"1.0","id":900,"method":"ping"}`, -32_600, 900],
        [`{"jsonrpc":"2.0","id":901,"method":5}`, -32_600, 901],
        [`{"jsonrpc":"2.0","id":902,"method":"no/such"}`, -32_601, 902],
        [`{"jsonrpc":"2.0","id":903,"method":"tools/call","params":{"name":"nope","arguments":{}}}`, -32_602, 903],
        [`{"jsonrpc":"2.0","id":904,"method":"tools/call","params":{"name":"__proto__"}}`, -32_602, 904],
        ["x".repeat(2_000_000), -32_600, null]
      ] as const) {
        const reply = yield* raw(agent, line)
        assert.deepStrictEqual([reply.error.code, reply.id], [code, id], line.slice(0, 80))
      }
      const own = `{"jsonrpc":"2.0","id":905,"method":"tools/call","params":{"name":"list_nodes","arguments":{"__proto__":{"limit":1}}}}`
      assert.include(JSON.stringify(yield* raw(agent, own)), "There is no argument __proto__")
      // One chunk with a line that is not JSON, a whole message, and half of the next message.
      agent.program.child.stdin.write(`nonsense\n{"jsonrpc":"2.0","id":906,"method":"ping"}\n{"jsonrpc":"2.0",`)
      yield* Effect.promise(() => agent.program.printed(`"id":906`))
      agent.program.child.stdin.write(`"id":907,"method":"ping"}\n`)
      yield* Effect.promise(() => agent.program.printed(`"id":907`))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
