import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestServer } from "../../src/testing.ts"
import { call, callWithoutSocket, dataOf } from "../http/service.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-profile-layer-"))
afterAll(() => rmSync(folder, { recursive: true }))

const file = join(folder, "learned.json")
const behaviour = {
  envelopes: {},
  records: {},
  failures: {},
  paging: { defaultSize: 3 },
  images: {},
  statuses: { running: "ACTIVE" },
  window: { limit: 500 }
}
writeFileSync(file, JSON.stringify({ format: "berth-profile/1", exchanges: 1, behaviour, findings: [] }))

describe("the service of a test with a profile", () => {
  const options = { profile: file, scenario: "small" as const }

  it.live("behaves as it has it", () =>
    Effect.gen(function* () {
      const { headers, json } = yield* call("GET", "/nodes/")
      expect([json.data.length, json.data[0].status, headers.get("ratelimit-limit")]).toEqual([3, "ACTIVE", "500"])
    }).pipe(Effect.provide(TestServer.layer(options)))
  )

  it.effect("does so without a socket", () =>
    Effect.gen(function* () {
      const [{ status }] = dataOf(yield* callWithoutSocket("GET", "/nodes/"))
      expect(status).toBe("ACTIVE")
    }).pipe(Effect.provide(TestServer.layerHttpClient(options)))
  )

  it.effect("does not start with a file that is none", () =>
    Effect.gen(function* () {
      const other = join(folder, "other.json")
      yield* Effect.sync(() => writeFileSync(other, "{}"))
      const exit = yield* Effect.exit(Effect.scoped(Layer.build(TestServer.layer({ profile: other }))))
      expect(Exit.isFailure(exit) && String(exit.cause)).toContain("it is not a profile of berth-server learn")
    })
  )
})
