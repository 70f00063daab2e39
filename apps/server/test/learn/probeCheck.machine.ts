/**
 * `learn --probe --check` as a process, against a service whose nodes come and go between any two requests: it finds nothing if nothing has
 * changed, and finds every single change. The test starts 85 processes.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { numbersFrom, seed } from "@berthkit/testing/chance"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { run, serve } from "../cli/berthServer.ts"
import { type Change, changed, changes } from "./changes.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-check-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const order = { name: "passing", region: "ncr", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }

/** Sends a request to the mock on behalf of somebody else. */
const send = async (url: string, method: string, headers: object = {}, body?: unknown): Promise<any> => {
  const sent = { method, headers: { "content-type": "application/json", ...headers } }
  const reply = await fetch(url, body === undefined ? sent : { ...sent, body: JSON.stringify(body) })
  return reply.status === 204 ? undefined : reply.json()
}

let probes = 0

type Dialect = "documented" | "today"

interface Probed {
  readonly nodes: number
  readonly change?: Change
  /** Which of the nodes somebody deletes. If nodes of the first pages are deleted, the probe may not show which page is which. */
  readonly goes?: "any" | "newest"
  readonly dialect?: Dialect
}

/** One probe of a world of its own in which somebody creates and deletes nodes while it lasts. */
const probe = Effect.fnUntraced(
  function* (
    origin: string,
    { change = {}, dialect = "documented", goes = "any", nodes }: Probed,
    args: ReadonlyArray<string>
  ) {
    const at = probes++
    const chance = numbersFrom(seed + at)
    const below = (bound: number) => Math.floor(chance() * bound)
    const world = yield* Effect.promise(() =>
      send(
        `${origin}/_mock/worlds`,
        "POST",
        {},
        {
          seed: 1,
          clock: "real",
          dialect,
          ...(dialect === "today" ? { catalogue: "documented" } : {}),
          scenario: nodes === 0 ? "empty" : `fleet:${nodes}`,
          provisioning: "200 millis",
          termination: "200 millis"
        }
      )
    )
    const own = { authorization: `Bearer ${world.accessToken}` }
    const path = (rest: string) =>
      `${origin}/myaccount/api/v1/nodes/${rest}?apikey=${world.apiKey}${dialect === "today" ? "&project_id=1&location=Delhi" : ""}`
    // Nothing happens before the first request of the probe: the window begins with it, and only this request shows the window's length.
    let isBegun = false
    const between = async () => {
      if (!isBegun) return void (isBegun = true)
      for (let come = below(3); come > 0; come--) await send(path(""), "POST", own, order)
      if (below(2) === 0) return
      const there = await send(`${origin}/_mock/worlds/${world.id}/nodes?count=300`, "GET")
      if (there.length > 0)
        await send(path(`${there.at(goes === "any" ? below(there.length) : -1).id}/`), "DELETE", own)
    }
    const { url } = yield* changed(origin, change, between)
    return yield* run(["learn", "--probe", ...args], {
      BERTH_BASE_URL: url,
      BERTH_API_KEY: world.apiKey,
      BERTH_ACCESS_TOKEN: world.accessToken,
      ...(dialect === "today" ? { BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" } : {}),
      XDG_STATE_HOME: join(folder, String(at))
    })
  },
  (probed) => Effect.scoped(probed)
)

const profile = join(folder, "learned.json")

/** A mock, and the profile of it. */
const learned = Effect.fnUntraced(function* (probed: Probed) {
  const { ready } = yield* serve(["--port", "0"])
  const { code, stderr } = yield* probe(ready.url, probed, ["--profile", profile])
  expect([code, stderr]).toEqual([0, ""])
  return ready.url
})

const passes = (dialect: Dialect, times: number) =>
  Effect.gen(function* () {
    const url = yield* learned({ nodes: 130, dialect })
    const counts = [0, 3, 21, 60, 130]
    const runs = Array.from({ length: times }, (_, at) => counts[at % counts.length]!)
    const check = (nodes: number) => probe(url, { nodes, dialect }, ["--check", profile])
    const checked = yield* Effect.forEach(runs, check, { concurrency: 3 })
    expect(checked.filter(({ code }) => code !== 0)).toEqual([])
  }).pipe(Effect.scoped)

describe("a check of a service that has not changed", () => {
  it.live("passes 20 of 20 times", () => passes("documented", 20))

  it.live("passes in the dialect of today, too", () => passes("today", 5))
})

it.live(`a check finds each of ${Object.keys(changes).length} single changes`, () =>
  Effect.gen(function* () {
    const url = yield* learned({ nodes: 130, goes: "newest" })
    const check = ([name, change]: [string, Change]) =>
      Effect.map(probe(url, { nodes: 130, change, goes: "newest" }, ["--check", profile]), (ended) => ({
        name,
        ...ended
      }))
    const checked = yield* Effect.forEach(Object.entries(changes), check, { concurrency: 3 })
    expect(checked.filter(({ code }) => code !== 11)).toEqual([])
  }).pipe(Effect.scoped)
)
