import { ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import * as Berth from "../../src/client/Berth.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import { signedRequests } from "../signedRequests.ts"

/** A client for the account of `apiKey`. */
const clientOf = (apiKey: string) =>
  Berth.layer({
    baseUrl: "https://service.test",
    credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make("token") }
  })

/** A service that lists nothing, and records the API key of each request. */
const transport = (onKey: (apiKey: string | null) => void) =>
  signedRequests(
    () => ok([]),
    (_, url) => onKey(url.searchParams.get("apikey"))
  )

class Theirs extends Context.Service<Theirs, Nodes["Service"]>()("test/Theirs") {}
class Ours extends Context.Service<Ours, Nodes["Service"]>()("test/Ours") {}

describe("several clients in one program", () => {
  it.effect("use their own accounts", () => {
    const keysUsed: Array<string | null> = []
    const both = Layer.mergeAll(
      Layer.effect(Ours, Nodes).pipe(Layer.provide(clientOf("ours"))),
      Layer.effect(Theirs, Nodes).pipe(Layer.provide(clientOf("theirs")))
    )
    return Effect.gen(function* () {
      yield* (yield* Ours).listPage()
      yield* (yield* Theirs).listPage()
      assert.deepStrictEqual(keysUsed, ["ours", "theirs"])
    }).pipe(
      Effect.provide(
        Layer.provide(
          both,
          transport((key) => keysUsed.push(key))
        )
      )
    )
  })

  it.effect("are one client when they share a layer", () => {
    const client = clientOf("ours")
    const both = Layer.mergeAll(
      Layer.effect(Ours, Nodes).pipe(Layer.provide(client)),
      Layer.effect(Theirs, Nodes).pipe(Layer.provide(client))
    )
    return Effect.gen(function* () {
      assert.strictEqual(yield* Ours, yield* Theirs)
    }).pipe(
      Effect.provide(
        Layer.provide(
          both,
          transport(() => {})
        )
      )
    )
  })
})
