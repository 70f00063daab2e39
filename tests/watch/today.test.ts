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
import { optionsOf, settingsOf } from "../account.ts"
import { run } from "../cli/berth.ts"
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

it.live("amounts leave out dollars: no sum, no metric and no budget counts them as rupees", () =>
  Effect.gen(function* () {
    const server = yield* TestServer
    const root = yield* folder
    const path = join(root, "watch.yml")
    const account = (location: string) => `  - name: ${location.toLowerCase()}
    baseUrl: ${server.baseUrl}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
    project: ${project}
    location: ${location}
    interval: 200ms
    budget: { month: 0.01, warn: [1%] }
`
    writeFileSync(
      path,
      `store: watch.db\nlisten: 127.0.0.1:0\naccounts:\n${locations.map(account).join("")}sinks:\n  - { name: log, stdout: {}, start: baseline }\n`
    )
    const id = yield* Effect.provide(make("node-in-delhi"), clientIn(server, "Delhi"))
    const daemon = yield* Daemon.start(["run", "--config", path, "--requests-per-hour", "1000000"])
    const { http } = yield* wait(() => daemon.ready())
    yield* wait(() => daemon.program.printed(new RegExp(`"subject":"nodes/${id}"`)))
    const costs = () => fetch(`${http}/api/cost`).then((reply) => reply.json() as any)
    const areRead = (all: any) =>
      all.accounts.length === 2 && all.accounts.every((each: any) => each.currencies.length > 0)
    let cost = yield* wait(costs)
    while (!areRead(cost)) {
      yield* Effect.sleep("200 millis")
      cost = yield* wait(costs)
    }
    const [chennai, delhi] = cost.accounts
    const nothing = { amountInr: 0, minInr: 0, assumedInr: 0 }
    expect(delhi).toMatchObject({
      account: "delhi",
      currencies: ["USD"],
      perHour: { minInr: 0, maxInr: null },
      spent: { ...nothing, maxInr: null },
      forecast: { ...nothing, maxInr: null }
    })
    // A place without nodes costs nothing, whatever its prices are in.
    expect(chennai).toMatchObject({ account: "chennai", perHour: { minInr: 0, maxInr: 0 }, spent: nothing })
    const plans = (yield* wait(() => fetch(`${http}/api/plans`).then((reply) => reply.json()))) as ReadonlyArray<any>
    expect(plans.length).toBeGreaterThan(0)
    for (const plan of plans) {
      expect(plan).toMatchObject({ pricePerHourInr: null, pricePerMonthInr: null, foreignPrice: { currency: "USD" } })
    }
    const metrics = yield* wait(() => fetch(`${http}/metrics`).then((reply) => reply.text()))
    const amounts = metrics.split("\n").filter((line) => line.startsWith("berth_cost_"))
    expect(amounts.length).toBeGreaterThan(0)
    for (const line of amounts) expect(line).toMatch(/^berth_cost_\w+_inr\{[^}]*\} 0$/)
    expect(eventsOf(daemon).filter(({ type }) => type.startsWith("berth.cost."))).toEqual([])
    const env = {
      ...settingsOf(server),
      BERTH_PROJECT: String(project),
      BERTH_LOCATION: "Delhi",
      BERTH_WATCH_URL: http!,
      XDG_STATE_HOME: root
    }
    const printed = yield* run(["cost", "--month"], { env })
    expect(printed.code).toBe(0)
    expect(printed.stderr).toContain(
      "delhi: the cost of nodes with prices in USD is not included, and does not count toward the budget, which is in rupees."
    )
    expect(printed.stderr).not.toContain("chennai")
  }).pipe(
    Effect.scoped,
    Effect.provide(TestServer.layer({ dialect: "today", currency: "USD", clock: "real", scenario: "empty" }))
  )
)
