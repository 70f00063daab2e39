/**
 * A proposal is carried out once, even if calls are repeated, replies are lost or processes are killed. The test counts the requests that
 * the service receives behind a relay, which can keep replies back.
 */
import { rmSync, writeFileSync } from "node:fs"
import { request as forward, type RequestListener } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { HttpService } from "@berthkit/testing/HttpService"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect } from "../../account.ts"
import { stateFolder } from "../stateFolder.ts"
import { type Agent, changes, order, startAgent } from "./Agent.ts"

const everything = ["--allow", "create,delete,commit"]

/**
 * The relay's treatment of the reply to the first change, which the service has carried out. `late`: the relay passes the reply on after
 * `reached`.
 */
type Loss = "kept back" | "lost" | "late"

/** A relay in front of the service. It calls `reached` once the service has carried out the first change. */
const relay = Effect.fnUntraced(function* (loss: Loss, reached: () => void) {
  const { baseUrl } = yield* TestServer
  const { hostname, port } = new URL(baseUrl)
  let isFirst = true
  const listener: RequestListener = (request, response) => {
    const isLost = isFirst && request.method !== "GET"
    if (isLost) isFirst = false
    const options = { hostname, port, method: request.method, path: request.url, headers: request.headers }
    const passed = forward(options, (reply) => {
      if (isLost) {
        if (loss !== "late") reply.resume().once("end", reached)
        if (loss === "lost") request.socket.destroy()
        if (loss !== "late") return
        reached()
      }
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    })
    request.pipe(passed)
  }
  return (yield* HttpService.start(listener)).url
})

const orders = {
  create: { ...order, name: "web" },
  delete: { action: "delete", node: "fleet-1" },
  commit: { action: "commit", node: "fleet-1", setting: "auto_terminate" }
} as const

const execute = (agent: Agent, proposal: unknown) => Effect.promise(() => agent.call("execute", { proposal }))

const propose = (agent: Agent, args: object) =>
  Effect.map(
    Effect.promise(() => agent.call("propose", args)),
    ({ structuredContent }) => structuredContent["id"]
  )

const live = (
  title: string,
  test: (state: string) => Effect.Effect<void, never, TestServer | import("effect").Scope.Scope>
) =>
  it.live(title, () =>
    Effect.flatMap(stateFolder, test).pipe(
      Effect.scoped,
      Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 2 } })))
    )
  )

/**
 * Executes a proposal on a server that is killed before the reply comes. Returns the proposal's id, and the server that was started
 * afterwards.
 */
const killedWhileSending = Effect.fnUntraced(function* (state: string, args: object) {
  let ended = () => {}
  const gone = new Promise<void>((resolve) => (ended = resolve))
  const url = yield* relay("kept back", () => first.program.signal("SIGKILL"))
  const options = { env: { XDG_STATE_HOME: state, BERTH_BASE_URL: url }, person: () => "accept" as const }
  const first = yield* startAgent(everything, options)
  const id = yield* propose(first, args)
  void first.call("execute", { proposal: id }).catch(ended)
  yield* Effect.promise(() => gone)
  return { id, next: yield* startAgent(everything, options) }
})

describe.each([
  ["create", "POST", "adopted", "was created, and is billed"],
  ["delete", "DELETE", "deleting", "is being deleted"]
] as const)("a %s whose reply never came, for the server was killed", (action, sent, outcome, says) => {
  live("is looked for, and not sent again", (state) =>
    Effect.gen(function* () {
      const { id, next } = yield* killedWhileSending(state, orders[action])
      const results = yield* Effect.all([execute(next, id), execute(next, id)], { concurrency: 2 })
      for (const { content, structuredContent } of results) {
        assert.deepInclude(structuredContent, { outcome }, content[0]?.text)
        assert.include(structuredContent["message"], says)
      }
      assert.deepStrictEqual(yield* changes, [sent])
      assert.isEmpty(next.questions)
    })
  )
})

describe("a create whose result cannot be kept", () => {
  live("says which node it made", (state) =>
    Effect.gen(function* () {
      const lose = () => {
        rmSync(state, { recursive: true })
        writeFileSync(state, "")
      }
      const env = { XDG_STATE_HOME: state, BERTH_BASE_URL: yield* relay("late", lose) }
      const agent = yield* startAgent(everything, { env, person: () => "accept" })
      const id = yield* propose(agent, orders.create)
      const { content, structuredContent } = yield* execute(agent, id)
      assert.deepInclude(structuredContent, { outcome: "created" }, content[0]?.text)
      assert.match(String(structuredContent["message"]), /^Node \d+ was created, and is billed\..* cannot be kept/)
      assert.deepStrictEqual(yield* changes, ["POST"])
    })
  )
})

describe("a commitment", () => {
  live("whose reply never came, for the server was killed, is not sent again", (state) =>
    Effect.gen(function* () {
      const { id, next } = yield* killedWhileSending(state, orders.commit)
      for (let time = 0; time < 2; time++) {
        const { content, isError } = yield* execute(next, id)
        assert.isTrue(isError)
        assert.match(content[0]?.text ?? "", /^It is not known whether the commitment of node \d+ was set/)
      }
      assert.deepStrictEqual(yield* changes, ["POST"])
    })
  )

  live("whose reply is lost is not sent again", (state) =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: state, BERTH_BASE_URL: yield* relay("lost", () => {}) }
      const agent = yield* startAgent(everything, { env, person: () => "accept" })
      const id = yield* propose(agent, orders.commit)
      assert.include((yield* execute(agent, id)).content[0]?.text, "The service may have carried out the request")
      assert.include((yield* execute(agent, id)).content[0]?.text, "It is not known whether the commitment")
      assert.deepStrictEqual(yield* changes, ["POST"])
    })
  )

  live("whose reply is lost is not bought again by another proposal, made before or after", (state) =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: state, BERTH_BASE_URL: yield* relay("lost", () => {}) }
      const agent = yield* startAgent(everything, { env, person: () => "accept" })
      const purchase = { ...orders.commit, setting: "auto_renew" }
      const [first, second] = [yield* propose(agent, purchase), yield* propose(agent, purchase)]
      assert.include((yield* execute(agent, first)).content[0]?.text, "The service may have carried out the request")
      assert.include((yield* execute(agent, second)).content[0]?.text, "no reply came. Nothing was sent now")
      const third = yield* Effect.promise(() => agent.call("propose", purchase))
      assert.isTrue(third.isError)
      assert.include(third.content[0]?.text, "--found not-set")
      assert.deepStrictEqual(yield* changes, ["POST"])
    })
  )

  live("that the service refused may be sent again", (state) =>
    Effect.gen(function* () {
      const agent = yield* startAgent(everything, { env: { XDG_STATE_HOME: state }, person: () => "accept" })
      const id = yield* propose(agent, { action: "commit", node: "fleet-1", setting: "auto_renew" })
      for (let time = 0; time < 2; time++) {
        assert.include((yield* execute(agent, id)).content[0]?.text, "has no commitment to renew")
      }
      assert.deepStrictEqual(yield* changes, ["POST", "POST"])
    })
  )
})
