/**
 * All followers get the same events, even if the daemon restarts: `events --follow`, server-sent events with `Last-Event-ID`, and a
 * webhook. The accounts of one daemon do not affect each other.
 */
import { request } from "node:http"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, placeLines } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { fastService } from "./killing.ts"
import { create } from "./polling.ts"
import { command, configured, eventsOf, folder, receiver, until, wait } from "./Scene.ts"

interface Message {
  readonly cursor: string
  readonly event: any
}

/** A client of the server-sent events that reconnects with the id of its last event. */
class StreamClient {
  readonly received: Array<Message> = []
  #close = () => {}

  /** Follows the events after its last one. */
  readonly open = (http: string) => {
    const lastEventId = this.received.at(-1)?.cursor
    const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
    const sent = request(`${http}/events?after=`, { headers }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk
        const messages = text.split("\n\n")
        text = messages.pop() ?? ""
        for (const message of messages) {
          const found = /^id: (.*)\ndata: (.*)$/m.exec(message)
          if (found !== null) this.received.push({ cursor: found[1]!, event: JSON.parse(found[2]!) })
        }
      })
      response.on("error", () => {})
    })
    this.#close = () => void sent.destroy()
    sent.on("error", () => {}).end()
  }

  readonly close = () => this.#close()
}

const ofNode = (events: ReadonlyArray<any>, subject: string) => events.filter((event) => event.subject === subject)

layer(fastService, { excludeTestServices: true })("those that follow the events", (it) => {
  it.effect(
    "get the same ones in the same order: a command, a stream that comes back, a webhook, through a restart",
    () =>
      Effect.gen(function* () {
        const ops = yield* receiver
        // Both nodes may be gone before the daemon sees either of them end. In that case it believes the list only after the hold.
        const config = yield* configured(ops.url, { hold: "1s" })
        const stream = new StreamClient()
        yield* Effect.addFinalizer(() => Effect.sync(stream.close))
        const run = Effect.tap(Daemon.start(["run", "--config", config, "--requests-per-hour", "1000000"]), (daemon) =>
          Effect.map(
            wait(() => daemon.ready()),
            ({ http }) => stream.open(http!)
          )
        )
        const first = yield* run
        const follower = yield* Daemon.start(["events", "--follow", "--config", config])
        yield* wait(() => first.baseline())
        const [a, b] = [yield* create("web-a"), yield* create("web-b")]
        yield* until(() => stream.received.length >= 3)
        stream.close()
        // On a busy machine, the daemon may see a node for the first time when it already runs.
        const runs = ({ data, subject }: any) => data.after?.status === "running" && subject
        yield* until(() => new Set(ops.taken.map(runs).filter(Boolean)).size === 2)
        first.program.signal("SIGTERM")
        yield* wait(() => first.finished())

        yield* Nodes.use((nodes) => nodes.delete(a))
        const second = yield* run
        yield* Nodes.use((nodes) => nodes.delete(b))
        const isEnd = ({ type }: any) => type === "berth.node.deleted"
        const followed = () => eventsOf(follower.program.printedOn.stdout)
        for (const events of [() => ops.taken, () => stream.received.map(({ event }) => event), followed]) {
          yield* until(() => events().filter(isEnd).length === 2)
        }
        second.program.signal("SIGTERM")
        yield* wait(() => second.finished())
        follower.program.signal("SIGTERM")
        yield* wait(() => follower.finished())

        const log = (yield* command(["events", "--config", config])).stdout.map((line) => JSON.parse(line))
        expect(followed()).toEqual(log)
        expect(stream.received.map(({ event }) => event)).toEqual(log)
        const taken = Array.from(new Map(ops.taken.map((event) => [event.id, event])).values())
        for (const id of [a, b]) expect(ofNode(taken, `nodes/${id}`)).toEqual(ofNode(log, `nodes/${id}`))
        expect(taken.toSorted((x, y) => (x.sequence < y.sequence ? -1 : 1))).toEqual(log)
        const status = JSON.parse((yield* command(["status", "--config", config])).stdout.join("\n"))
        expect(status.cursor).toBe(stream.received.at(-1)!.cursor)
      })
  )
})

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })("accounts of one daemon", (it) => {
  it.effect("do not touch each other: refused credentials and an empty allowance are one account's alone", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const world = { clock: "real", scenario: "small" } as const
      const [good, refused] = [yield* makeWorld(inDialect(world)), yield* makeWorld(inDialect(world))]
      const empty = yield* makeWorld(inDialect({ ...world, rateLimit: { limit: 1, window: "1 hour" } }))
      const account = (name: string, { baseUrl }: { readonly baseUrl: string }) => `
  - name: ${name}
    baseUrl: ${baseUrl}
    apiKey: { env: KEY_${name} }
    accessToken: { env: TOKEN_${name} }
${placeLines("    ")}    interval: 200ms`
      const path = join(yield* folder, "watch.yml")
      const accounts = [account("good", good), account("refused", refused), account("empty", empty)]
      writeFileSync(
        path,
        `store: watch.db\nlisten: 127.0.0.1:0\naccounts:${accounts.join("")}\nsinks: [{ name: log, stdout: {} }]\n`
      )
      const env = Object.fromEntries(
        Object.entries({ good, refused, empty }).flatMap(([name, { accessToken, apiKey }]) => [
          [`KEY_${name}`, Redacted.value(apiKey)],
          [`TOKEN_${name}`, Redacted.value(accessToken)]
        ])
      )
      const daemon = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"], {
        ...env,
        TOKEN_refused: "wrong-0123456789"
      })
      const { http } = yield* wait(() => daemon.ready())
      yield* wait(() =>
        daemon.program.printed(
          /^berth-watch: account-refused \(refused\): The credentials of the account do not work\. .*\n/m,
          "stderr"
        )
      )
      yield* wait(() => daemon.baseline())
      const before = (yield* good.journal).length
      const [node] = yield* Effect.orDie(good.control.nodes.list({ params: { world: good.id }, query: {} }))
      const change = { params: { world: good.id, id: node!.id }, payload: { status: "power-off" } } as const
      yield* Effect.orDie(good.control.nodes.change(change))
      yield* wait(() => daemon.event("berth.node.status_changed"))
      expect((yield* good.journal).length).toBeGreaterThan(before)
      const states = yield* wait(() =>
        fetch(`${http}/api/accounts`).then(
          async (reply) => new Map(Array.from((await reply.json()) as Array<any>, (each) => [each.account, each.state]))
        )
      )
      expect(states.get("good")).toBe("watching")
      expect(states.get("refused")).toBe("degraded")
      expect(states.get("empty")).not.toBe("watching")
      // The service got one request, and gets no other before the allowance has refilled.
      expect((yield* empty.journal).length).toBe(1)
      daemon.program.signal("SIGTERM")
      expect((yield* wait(() => daemon.finished())).code).toBe(0)
    })
  )
})
