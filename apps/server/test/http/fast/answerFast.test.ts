import { describe, expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { HttpEffect, HttpServerRequest } from "effect/http"
import fc from "fast-check"
import { makeApp } from "../../../src/app.ts"
import { answerFast } from "../../../src/http/fast/answerFast.ts"
import { populate } from "../../../src/world/scenario.ts"
import * as World from "../../../src/world/World.ts"
import { defaults } from "../../../src/world/WorldSettings.ts"
import { Worlds } from "../../../src/world/Worlds.ts"
import { prefix } from "../service.ts"

const nodes = 45

const makeWorld = () => {
  const settings = { ...defaults, clock: "frozen" as const }
  const world = World.make({ ...settings, rateLimit: { ...settings.rateLimit, limit: 100_000 } }, 0)
  populate(world, { fleet: nodes })
  return world
}

/** The reply of the service to a GET, byte for byte. */
const service = (checkReplies: boolean) =>
  Effect.gen(function* () {
    const { handle, requestContext } = yield* makeApp(new Worlds(makeWorld()), { checkReplies })
    const answer = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(
      requestContext
    )(handle)
    return (url: string) =>
      Effect.promise(async () => {
        const response = await answer(
          new Request(`http://berth.test${url}`, { headers: { authorization: "Bearer berth-token" } })
        )
        return { status: response.status, headers: [...response.headers], text: await response.text() }
      })
  })

const firstId = World.make(defaults, 0).nodes.nextId

const path = fc.constantFrom(
  "/nodes/",
  "/nodes",
  "//nodes/",
  "/nodes/0/",
  "/nodes/01/",
  "/nodes/1/",
  "/nodes/%31/",
  "/nodes/1e4/",
  `/nodes/${firstId}`,
  `/nodes/${firstId}/`,
  `/nodes/0${firstId}/`,
  `/nodes/${firstId + nodes - 1}/`,
  `/nodes/${firstId + nodes}/`,
  `/nodes/${firstId}/x/`,
  "/nodes/999999999999999/",
  "/nodes/9999999999999999999/",
  "/images/"
)
const value = fc.constantFrom(
  "",
  "0",
  "1",
  "2",
  "3",
  "007",
  "20",
  "100",
  "101",
  "1.0",
  "1e1",
  "-1",
  "+1",
  "%31",
  "x",
  "9999999999"
)
const part = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom("page", "page_no", "per_page"), value).map((pair) => pair.join("="))
  },
  fc.constantFrom(
    "",
    "page",
    "per_page",
    "location=x",
    "a%3Db=1",
    "per%5Fpage=2",
    "x=1;per_page=2",
    "per_page=2?page_no=3"
  )
)
const url = fc
  .tuple(path, fc.array(part, { maxLength: 3 }))
  .map(([at, parts]) => `${prefix}${at}?${["apikey=berth-key", ...parts].join("&")}`)

describe("a request of the plainest form", () => {
  it.effect("gets byte for byte the reply of its endpoint, and so does any other", () =>
    Effect.gen(function* () {
      const [fast, whole] = [yield* service(false), yield* service(true)]
      for (const sample of fc.sample(url, { numRuns: 1_500, seed: 11 })) {
        expect({ sample, ...(yield* fast(sample)) }).toEqual({ sample, ...(yield* whole(sample)) })
      }
    })
  )

  it("takes the fast path, and no other does", () => {
    const world = makeWorld()
    const ask = (at: string, method = "GET") =>
      answerFast({
        arrivedAt: world.latest,
        identity: { _tag: "Known", world, bySession: false },
        request: { method, url: prefix + at } as HttpServerRequest.HttpServerRequest,
        world
      })?.status
    const plain = [`/nodes/${firstId}/`, `/nodes/${firstId}/?apikey=k`, "/nodes/", "/nodes/?page_no=2&per_page=20&x=y"]
    expect(plain.map((at) => ask(at))).toEqual(plain.map(() => 200))
    const others = ["/nodes/1/", "/nodes/x/", "/nodes", "/images/", "/nodes/?page=2", "/nodes/?per_page=101"]
    expect([...others.map((at) => ask(at)), ask("/nodes/", "HEAD")]).toEqual([...others, "HEAD"].map(() => undefined))
  })
})
