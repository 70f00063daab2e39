/**
 * A person approves an agent's proposal at a real terminal. A proposal is carried out only once, even if a process is killed. Needs
 * Linux, because its `script` makes the terminal.
 */
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect, Random, Schedule } from "effect"
import { settings } from "../berth.ts"
import { type Agent, changes, order, startAgent } from "../mcp/Agent.ts"
import { stateFolder } from "../stateFolder.ts"
import { inDialect } from "../../account.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

/** Runs `berth approve` at its own terminal. */
const approve = (state: string, id: string, typed: string) =>
  Effect.gen(function* () {
    const env = { ...(yield* settings), TERM: "xterm", NO_COLOR: "1", XDG_STATE_HOME: state }
    const command = `stty cols 160 rows 30; exec '${process.execPath}' '${binary}' approve ${id}`
    const args = ["--quiet", "--return", "--flush", "--command", command, "/dev/null"]
    const terminal = yield* Program.start(() => new Program("script", args, { env, isInputOpen: true }))
    if (typed !== "") {
      yield* Effect.promise(() => terminal.printed("[y/N] "))
      yield* Effect.sync(() => terminal.child.stdin.write(typed))
    }
    return yield* Effect.promise(() => terminal.ended)
  }).pipe(Effect.scoped)

const call = (agent: Agent, name: string, args: object) => Effect.promise(() => agent.call(name, args))

const propose = (agent: Agent, args: object) =>
  Effect.map(call(agent, "propose", args), ({ structuredContent }) => structuredContent["id"] as string)

describe("berth approve", () => {
  it.live("shows the proposal, and lets the agent carry it out once", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const agent = yield* startAgent(["--allow", "create,delete"], { env: { XDG_STATE_HOME: state } })
      const id = yield* propose(agent, { ...order, name: "web" })
      const { code, stdout } = yield* approve(state, id, "y\r")
      assert.strictEqual(code, 0, stdout)
      assert.include(stdout, "Create node web on C-2VCPU-8RAM-50DISK from Ubuntu-22.04? ₹6.46 per hour")
      assert.include(stdout, "Request: POST /myaccount/api/v1/nodes/")
      assert.isEmpty(yield* changes)
      const done = yield* call(agent, "execute", { proposal: id })
      assert.deepInclude(done.structuredContent, { outcome: "created" })
      const again = yield* approve(state, id, "")
      assert.deepStrictEqual(again.code, 5)
      assert.include(again.stdout, `The proposal ${id} was carried out.`)
      assert.deepStrictEqual(yield* changes, ["POST"])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("declines with any other answer, and knows no other proposal", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const agent = yield* startAgent(["--allow", "delete"], { env: { XDG_STATE_HOME: state } })
      const id = yield* propose(agent, { action: "delete", node: "fleet-1" })
      assert.strictEqual((yield* approve(state, id, "n\r")).code, 130)
      const declined = yield* call(agent, "execute", { proposal: id })
      assert.deepInclude(declined.structuredContent, { outcome: "declined" })
      assert.strictEqual((yield* approve(state, "p0123456789abcdefghi", "")).code, 4)
      assert.isEmpty(yield* changes)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1 } }))))
  )
})

const kills = isSoak ? 60 : 6

describe("a proposal that is executed while servers are killed", () => {
  it.live("makes one node", () =>
    Effect.gen(function* () {
      const { arm, control, id: world } = yield* TestServer
      const nodes = Effect.map(
        Effect.orDie(control.nodes.list({ params: { world }, query: {} })),
        ({ length }) => length
      )
      for (let kill = 0; kill < kills; kill++) {
        const env = { XDG_STATE_HOME: yield* stateFolder }
        const before = yield* nodes
        const options = { env, person: () => "accept" as const }
        const first = yield* startAgent(["--allow", "create"], options)
        const id = yield* propose(first, { ...order, name: `web-${kill}` })
        // The node is made at once, but the reply is late. So the kill comes before, during or after the send.
        yield* arm([{ fault: "latency", delay: "1 minute", scope: { operation: "nodes.create" } }])
        void first.call("execute", { proposal: id }).catch(() => {})
        if (kill % 2 === 0) {
          const made = Effect.map(nodes, (now) => now > before)
          yield* Effect.repeat(made, { until: (isMade) => isMade, schedule: Schedule.spaced("20 millis") })
        } else yield* Effect.sleep(yield* Random.nextIntBetween(0, 300))
        yield* Effect.sync(() => first.program.signal("SIGKILL"))
        yield* Effect.promise(() => first.program.ended)
        yield* arm([])
        const second = yield* startAgent(["--allow", "create"], options)
        const { content, structuredContent } = yield* call(second, "execute", { proposal: id })
        assert.match(String(structuredContent?.["outcome"]), /^(?:created|adopted)$/, content[0]?.text)
        assert.strictEqual(yield* nodes, before + 1)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )
})
