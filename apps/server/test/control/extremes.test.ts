import { isSoak } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { TestServer } from "../../src/testing.ts"
import { callAs } from "../http/service.ts"
import { extremes } from "./extremes.ts"
import { control } from "./plane.ts"

/** The paths of all numbers within a value. */
const numbersIn = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value === "number"
    ? [path]
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([key, part]) => numbersIn(part, [...path, key]))
      : []

const withValue = (value: unknown, path: ReadonlyArray<string>, other: number): unknown => {
  const copy: any = structuredClone(value)
  const holder = path.slice(0, -1).reduce((at, key) => at[key], copy)
  holder[path.at(-1)!] = other
  return copy
}

/** Numbers on which no other field depends. */
const isTime = (path: string) => /(Millis|At|latest|asOf|[dD]ays|rate)$/.test(path)

describe("any number of a snapshot at an extreme", () => {
  for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
    it.effect(`is refused by its path with nothing changed, or does no harm: ${algorithm}`, () =>
      Effect.gen(function* () {
        const server = yield* TestServer
        const world = yield* server.makeWorld({
          scenario: "small",
          clock: { times: 60 },
          startAt: "2026-05-01T00:00:00Z",
          nodes: [{ name: "given", createdAt: "2026-04-01T00:00:00Z" }],
          lives: [{ nodes: "web-*", provisioning: "1 hour", outcomes: { runs: 1, vanishes: 1 } }],
          rateLimit: { limit: 100, window: "1 hour", algorithm }
        })
        yield* world.arm([{ fault: "status", status: 404, probability: 0.5, from: "1s", until: "1h" }])
        yield* callAs(world, "GET", "/nodes/")
        const at = `/worlds/${world.id}`
        const { json: taken } = yield* control("GET", `${at}/snapshot`)
        const [first, ...rest] = taken.nodes
        const commitment = { skuId: 1, days: 30, startedAt: taken.latest, nextSkuId: 1, nextDays: 30 }
        const node = { ...first, deletedAt: taken.latest, commitment: { ...commitment, setting: "auto_renew" } }
        const good = { ...taken, nodes: [node, ...rest], gone: [structuredClone(node)] }
        expect((yield* control("PUT", `${at}/snapshot`, good)).status).toBe(200)
        const paths = numbersIn(good).filter(
          ([part, field]) => algorithm === "fixed-window" || part === "allowance" || field === "rateLimit"
        )
        for (const [index, path] of paths.entries()) {
          // The test command tests a third of the extremes, and different ones for each path.
          for (const extreme of extremes.filter((_, at) => isSoak || (at + index) % 3 === 0)) {
            const before = yield* control("GET", `${at}/snapshot`)
            const { json, status } = yield* control("PUT", `${at}/snapshot`, withValue(good, path, extreme))
            const what = [path.join("."), extreme]
            if (status !== 200) {
              expect([...what, status]).toEqual([...what, 422])
              const named = isTime(path.join(".")) ? path.join(".") : expect.any(String)
              expect(Object.keys(json.errors)).toContainEqual(named)
              expect((yield* control("GET", `${at}/snapshot`)).text).toBe(before.text)
            }
            yield* TestClock.adjust("1 second")
            for (const read of ["/worlds", `${at}/nodes`, `${at}/faults`]) {
              expect([...what, read, (yield* control("GET", read)).status]).toEqual([...what, read, 200])
            }
            expect([...what, (yield* callAs(world, "GET", "/nodes/")).status < 500]).toEqual([...what, true])
            if (status === 200 && isTime(path.join("."))) {
              const again = yield* control("GET", `${at}/snapshot`)
              expect([...what, (yield* control("PUT", `${at}/snapshot`, again.json)).status]).toEqual([...what, 200])
            }
          }
        }
      }).pipe(Effect.provide(TestServer.layer()))
    )
  }
})
