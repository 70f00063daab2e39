import { once } from "node:events"
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Program } from "@berth/testing/Program"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))
const maxTurn = new URL("maxTurn.ts", import.meta.url).href

/** Starts the bundled server and measures the turns of its event loop. */
const start = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const env = { ...process.env, NODE_OPTIONS: `--import=${maxTurn}` }
  const server = yield* Program.start(() =>
    Program.ofNode(binary, ["--port", "0", "--clock", "frozen", ...args], { env })
  )
  const { pid, url } = JSON.parse(yield* Effect.promise(() => server.printed(/^.*\n/)))
  let count = 0
  return {
    url: `${url}/_mock/worlds`,
    residentMib: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024,
    /** The longest turn since this was asked before. */
    turnMillis: Effect.promise(async () => {
      server.signal("SIGUSR2")
      const line = await server.printed(new RegExp(`^turn ${++count}: .*`, "m"), "stderr")
      return Number(/: ([\d.]+) ms/.exec(line)![1])
    })
  }
})

function* piecesOf(body: Uint8Array) {
  for (let at = 0; at < body.length; at += 1_000_000) yield body.subarray(at, at + 1_000_000)
}

/** Sends a body with its length, or in pieces without. */
const put = (url: string, body: Uint8Array, pieces: boolean) =>
  Effect.promise(async () => {
    const length = pieces ? { "transfer-encoding": "chunked" } : { "content-length": body.length }
    const sent = request(url, { method: "PUT", headers: { "content-type": "application/json", ...length } })
    // Where a body is refused early, the connection may end before the body does.
    Readable.from(piecesOf(body)).pipe(sent.on("error", () => undefined))
    const [reply] = await once(sent, "response")
    return { status: reply.statusCode, text: String(await buffer(reply)) }
  })

describe("a world of a million nodes", () => {
  it.live("goes out and in, the same bytes again, and no turn of the server takes 100 ms", () =>
    Effect.gen(function* () {
      const { turnMillis, url } = yield* start(["--scenario", "fleet:1000000"])
      const take = (world: string) =>
        Effect.promise(async () => Buffer.from(await (await fetch(`${url}/${world}/snapshot`)).arrayBuffer()))
      const made = yield* Effect.promise(() => fetch(url, { method: "POST" }))
      const { id } = yield* Effect.promise(() => made.json() as Promise<{ readonly id: string }>)
      yield* turnMillis
      const snapshot = yield* take("default")
      const turns = [yield* turnMillis]
      expect(snapshot.length).toBeGreaterThan(100_000_000)
      for (const pieces of [false, true]) {
        expect((yield* put(`${url}/${id}/snapshot`, snapshot, pieces)).status).toBe(200)
        turns.push(yield* turnMillis)
        assert((yield* take(id)).equals(snapshot))
      }
      for (const turn of turns) expect(turn).toBeLessThan(100)
    })
  )
})

describe("a million nodes that end at once", () => {
  it.live(
    "are cleared away in turns of 60 ms while others are answered, as are a reset, a snapshot and the end of their world",
    () =>
      Effect.gen(function* () {
        const { turnMillis, url } = yield* start([])
        const ask = (method: string, path: string, body?: object) =>
          Effect.promise(async () => {
            const json = body === undefined ? {} : { body: JSON.stringify(body) }
            const reply = await fetch(url + path, { method, headers: { "content-type": "application/json" }, ...json })
            return { status: reply.status, text: await reply.text() }
          })
        const lives = { outcomes: { vanishes: 1 }, outcomeAfter: "1095 days" }
        expect((yield* ask("POST", "", { clock: "frozen", scenario: "fleet:1000000", ...lives })).status).toBe(201)
        const nodes = Effect.map(ask("GET", "/w1"), ({ text }) => JSON.parse(text).nodes)
        const turns: Array<number> = []
        const measured = Effect.fnUntraced(function* (...asked: Parameters<typeof ask>) {
          yield* turnMillis
          const { status } = yield* ask(...asked)
          turns.push(yield* turnMillis)
          return status
        })
        const end = ["POST", "/w1/clock", { advance: "3285 days" }] as const
        expect([yield* measured(...end), yield* nodes]).toEqual([200, 0])
        expect([yield* measured("POST", "/w1/reset"), yield* nodes]).toEqual([200, 1_000_000])
        expect(yield* measured("GET", "/w1/snapshot")).toBe(200)
        // The world ends while its nodes do.
        const [ended, deleted] = yield* Effect.all(
          [measured(...end), Effect.delay(ask("DELETE", "/w1"), "100 millis")],
          { concurrency: 2 }
        )
        expect([ended, deleted.status]).toEqual([404, 204])
        for (const turn of turns) expect(turn).toBeLessThan(60)
      })
  )
})

describe("a body of 120 MB that is no snapshot", () => {
  it.live("is refused within a second and a turn of 100 ms, and leaves no memory behind", () =>
    Effect.gen(function* () {
      const { residentMib, turnMillis, url } = yield* start([])
      let first: number | undefined
      for (const [before, repeated] of [
        ["[", "[],"],
        ['{"nodes":[', "[],"],
        ["", "["],
        ["", '{"a":'],
        ['{"a":"', "x"],
        ['{"nodes":[', " "],
        ["{", '"a":1,']
      ] as const) {
        const body = Buffer.from(before + repeated.repeat(120_000_000 / repeated.length))
        for (const pieces of [false, true]) {
          yield* turnMillis
          const begin = performance.now()
          const { status } = yield* put(`${url}/default/snapshot`, body, pieces)
          const tookMillis = performance.now() - begin
          expect([before + repeated, status]).toEqual([before + repeated, expect.toBeOneOf([413, 422])])
          expect(tookMillis).toBeLessThan(1000)
          expect(yield* turnMillis).toBeLessThan(100)
          first ??= residentMib()
        }
      }
      expect(residentMib()).toBeLessThan(first! + 100)
    })
  )
})
