/**
 * The daemon with today's service: two locations of one project are two accounts, lists have no dates, and a date that appears later is not
 * reported as a change.
 */
import { expect, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { type NodeSpec } from "@berthkit/core/domain/NodeSpec"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Images } from "@berthkit/core/client/Images"
import { Duration, Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { optionsOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { folder, wait } from "./Scene.ts"

const project = 7
const locations = ["Delhi", "Chennai"] as const

const clientIn = (server: TestServer["Service"], location: string) =>
  Berth.layer({ ...optionsOf(server), project, location }).pipe(Layer.provide(FetchHttpClient.layer))

/** Creates a node and returns its id. */
const make = (name: string) =>
  Effect.gen(function* () {
    const [image] = yield* (yield* Images).list()
    const spec: NodeSpec = { name, plan: image!.plan, image: image!.image }
    return (yield* (yield* Nodes).create(spec)).node.id
  })

interface Event {
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly data: any
}

const eventsOf = (daemon: Daemon): ReadonlyArray<Event> =>
  daemon.program.printedOn.stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event)

it.live("events of a location are about its own nodes, and a date that a read has is no change", () =>
  Effect.gen(function* () {
    const server = yield* TestServer
    const path = join(yield* folder, "watch.yml")
    const account = (location: string) => `  - name: ${location.toLowerCase()}
    baseUrl: ${server.baseUrl}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
    project: ${project}
    location: ${location}
    interval: 200ms
    grace: 200ms
`
    writeFileSync(
      path,
      `store: watch.db\nlisten: 127.0.0.1:0\naccounts:\n${locations.map(account).join("")}sinks:\n  - { name: log, stdout: {}, start: baseline }\n`
    )
    const inDelhi = clientIn(server, "Delhi")
    const known = yield* Effect.provide(make("known"), inDelhi)
    const daemon = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
    yield* wait(() => daemon.program.printed(/"source":"\/accounts\/delhi"[^\n]*"type":"berth.node.discovered"/))

    const made = yield* Effect.provide(make("made"), inDelhi)
    yield* wait(() => daemon.program.printed(new RegExp(`"subject":"nodes/${made}","type":"berth.node.created"`)))
    yield* Effect.provide(
      Nodes.use((nodes) => nodes.delete(known)),
      inDelhi
    )
    yield* wait(() => daemon.program.printed(new RegExp(`"subject":"nodes/${known}","type":"berth.node.deleted"`)))

    const events = eventsOf(daemon).filter(({ type }) => type.startsWith("berth.node."))
    expect(new Set(events.map(({ source }) => source))).toEqual(new Set(["/accounts/delhi"]))
    expect(events.filter(({ type }) => type === "berth.node.changed")).toEqual([])
    expect(
      events.filter(({ subject, type }) => subject === `nodes/${known}` && type === "berth.node.deleted")
    ).toHaveLength(1)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      TestServer.layer({
        dialect: "today",
        clock: "real",
        scenario: "empty",
        provisioning: Duration.millis(100),
        termination: Duration.millis(100)
      })
    )
  )
)
