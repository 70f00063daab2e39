/** The tools as a model sees them: few tools, few tokens, correct hints, and results as in `berth schema`. */
import { json } from "../berth.ts"
import { fleetFolder, webs } from "../fleet.ts"
import { invoke } from "../invoke.ts"
import { validator } from "../matrix/check.ts"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { countTokens } from "gpt-tokenizer"
import { inDialect } from "../../account.ts"
import { order, startAgent } from "./Agent.ts"

const maxTools = 8
const maxTokens = 2000
/** A safe bound for all tokenizers: none needs fewer bytes of JSON for one token. */
const minBytesPerToken = 3.5

const everything = ["--allow", "create,delete,commit"]

interface Listed {
  readonly name: string
  readonly annotations: Readonly<Record<string, boolean>>
  readonly outputSchema: object
}

describe("the tools", () => {
  it.live.each([["2025-11-25"], ["2026-07-28"], ["2025-06-18"]])(
    "of revision %s are few and short",
    ([revision = ""]) =>
      Effect.gen(function* () {
        const agent = yield* startAgent(everything, { revision })
        const { result } = yield* Effect.promise(() => agent.request("tools/list"))
        const printed = agent.lines.at(-1) ?? ""
        assert.isAtMost((result["tools"] as ReadonlyArray<unknown>).length, maxTools)
        assert.isAtMost(countTokens(printed), maxTokens)
        assert.isAtMost(Buffer.byteLength(printed) / minBytesPerToken, maxTokens)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("say what they may do", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent([])
      const { result } = yield* Effect.promise(() => agent.request("tools/list"))
      const tools = result["tools"] as ReadonlyArray<Listed>
      const hints = Object.fromEntries(
        tools.map(({ annotations: { destructiveHint, idempotentHint, readOnlyHint }, name }) => [
          name,
          [readOnlyHint, destructiveHint, idempotentHint]
        ])
      )
      assert.deepStrictEqual(hints, {
        list_nodes: [true, false, true],
        get_node: [true, false, true],
        list_plans: [true, false, true],
        list_images: [true, false, true],
        account: [true, false, true],
        wait: [true, false, true],
        propose: [true, false, false],
        execute: [false, true, true]
      })
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("answer as their schemas and those of berth schema have it", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything)
      const ask = (name: string, args: object = {}) => Effect.promise(() => agent.call(name, args))
      const { commands } = json<{ readonly commands: Readonly<Record<string, object>> }>(yield* invoke(["schema"]))
      const listed = yield* Effect.promise(() => agent.request("tools/list"))
      const tools = new Map((listed.result["tools"] as ReadonlyArray<Listed>).map((tool) => [tool.name, tool]))
      const { resources } =
        (yield* Effect.promise(() => agent.request("resources/read", { uri: "berth://schema" }))).result["contents"] ===
        undefined
          ? { resources: [] }
          : { resources: ["berth://schema"] }
      assert.lengthOf(resources, 1)
      const check = (name: string, result: { readonly structuredContent: Readonly<Record<string, unknown>> }) => {
        validator(tools.get(name)!.outputSchema)(result.structuredContent, name)
        return result.structuredContent
      }
      const asCommand = (command: string, value: unknown) => validator(commands[command]!)(value, command)

      const nodes = check("list_nodes", yield* ask("list_nodes"))["nodes"] as ReadonlyArray<{ readonly id: number }>
      assert.isNotEmpty(nodes)
      asCommand("node list", nodes)
      const [{ id } = { id: 0 }] = nodes
      const got = check("get_node", yield* ask("get_node", { node: id }))
      asCommand("node get", got)
      asCommand("plan list", check("list_plans", yield* ask("list_plans"))["plans"])
      asCommand("image list", check("list_images", yield* ask("list_images"))["images"])
      const account = check("account", yield* ask("account", { by: "plan" }))
      asCommand("auth status", account["account"])
      asCommand("limits", account["limits"])
      asCommand("cost", [account["total"], ...(account["rows"] as ReadonlyArray<unknown>)])
      const proposed = check("propose", yield* ask("propose", { action: "delete", node: id }))
      asCommand("node delete", proposed["proposal"])
      const waited = check("wait", yield* ask("wait", { node: id, for: "running", seconds: 5 }))
      asCommand("node wait", waited)
      assert.deepStrictEqual(waited["node"], got)
      check("execute", yield* ask("execute", { proposal: proposed["id"] }))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("group costs by the fleets of this machine", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      yield* fleet.apply("--yes")
      const agent = yield* startAgent([], { env: yield* fleet.env })
      const { structuredContent } = yield* Effect.promise(() => agent.call("account", { by: "fleet" }))
      const rows = structuredContent["rows"] as ReadonlyArray<{ readonly name: string; readonly nodes: number }>
      assert.deepStrictEqual(
        rows.map(({ name, nodes }) => [name, nodes]),
        [["shop", 1]]
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("propose a create with the size of its disk", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything)
      const args = { ...order, name: "web", disk: 150 }
      const { structuredContent } = yield* Effect.promise(() => agent.call("propose", args))
      const { request } = structuredContent["proposal"] as { readonly request: { readonly body: object } }
      assert.deepInclude(request.body, { disk: 150 })
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("propose no create with the path of a key in place of the key", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything)
      for (const key of ["keys/id.pub", "~/.ssh/id_ed25519"]) {
        const args = { ...order, name: "web", sshKeys: [key] }
        const { content, isError } = yield* Effect.promise(() => agent.call("propose", args))
        assert.isTrue(isError, key)
        assert.include(content[0]?.text, "sshKeys has an empty text, a path, or a private key")
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("list plans by price, and no more than asked for", () =>
    Effect.gen(function* () {
      const agent = yield* startAgent([])
      const { structuredContent } = yield* Effect.promise(() => agent.call("list_plans", { minCpu: 4, limit: 3 }))
      const plans = structuredContent["plans"] as ReadonlyArray<{ vcpus: number; minPricePerHourInr: number }>
      assert.lengthOf(plans, 3)
      assert.isTrue(plans.every(({ vcpus }) => vcpus >= 4))
      const prices = plans.map(({ minPricePerHourInr }) => minPricePerHourInr)
      assert.deepStrictEqual(
        prices,
        prices.toSorted((a, b) => a - b)
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
