import { Aborted, type KnownAllowance, type Client, ClientClosed, createClient } from "@berthkit/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import type { RequestListener, ServerResponse } from "node:http"
import { bareService, mockService, rejection } from "./Service.ts"

/** A place where a call may be when it is abandoned. */
interface Place {
  /** How the service handles the request. */
  readonly answer: RequestListener
  /** The client's known allowance once the call is there. */
  readonly level: Pick<KnownAllowance, "underWay" | "waiting">
  /** The call's ledger at the end. */
  readonly attempts: Array<readonly [outcome: string, status: number | null]>
}

const places: Record<string, Place> = {
  "on the wire": { answer: () => {}, level: { underWay: 1, waiting: 0 }, attempts: [["interrupted", null]] },
  "while a body trickles": {
    answer: (_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write(`{"message":"Suc`)
    },
    level: { underWay: 1, waiting: 0 },
    attempts: [["interrupted", 200]]
  },
  "in backoff": {
    answer: (_, response) => response.writeHead(503, { "retry-after": "30" }).end(),
    level: { underWay: 0, waiting: 0 },
    attempts: [["ServiceUnavailable", 503]]
  },
  "in the queue": { answer: () => assert.fail("sent"), level: { underWay: 0, waiting: 1 }, attempts: [] }
}

/** A reply after which the allowance is spent for half a minute. */
const spends: RequestListener = (_, response) => {
  response.setHeader("ratelimit-limit", "10").setHeader("ratelimit-remaining", "0")
  response.setHeader("ratelimit-reset", String(Math.ceil(Date.now() / 1000) + 30))
  response.end(`{"message":"Success","code":200,"data":[],"errors":{}}`)
}

/** Waits until a call of the client has reached that place. */
const until = async ({ allowance }: Client, { underWay, waiting }: Place["level"]) => {
  for await (const level of allowance.changes()) if (level.underWay === underWay && level.waiting === waiting) return
}

/** Whether the promise settles before the next turn of the event loop, that is, without a timer, a socket or another task in between. */
const endsAtOnce = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true
    ),
    new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))
  ])

for (const [end, tag] of [
  ["a signal", "Aborted"],
  ["closing the client", "ClientClosed"]
] as const) {
  describe(`${end}`, () => {
    for (const [place, { answer, attempts, level }] of Object.entries(places)) {
      it(`ends a call ${place} at once`, async () => {
        const arrived = Promise.withResolvers<ServerResponse>()
        const begun = Promise.withResolvers<void>()
        let spent = place !== "in the queue"
        await using service = await bareService(
          (request, response) => {
            if (!spent) {
              spent = true
              return spends(request, response)
            }
            answer(request, response)
            return arrived.resolve(response)
          },
          {
            fetch: async (...request) => {
              const response = await fetch(...request)
              begun.resolve()
              return response
            }
          }
        )
        const { client } = service
        if (!spent) await client.images.saved()
        const controller = new AbortController()
        const call = client.nodes.get(7, { signal: controller.signal })
        const response = place === "in the queue" ? undefined : await arrived.promise
        if (place === "while a body trickles") await begun.promise
        await until(client, level)
        assert.deepInclude(await client.allowance.current(), level)

        const gone = level.underWay === 0 || response === undefined ? undefined : once(response, "close")
        const closed = end === "a signal" ? controller.abort("enough") : client.close()
        assert.isTrue(await endsAtOnce(call))
        const error = await rejection(call)
        assert.propertyVal(error, "_tag", tag)
        assert.propertyVal(error, "changed", "no")
        assert.deepStrictEqual(
          error.attempts.map(({ outcome, status }) => [outcome, status] as const),
          attempts
        )
        // The request is dropped as well, not only the caller's promise.
        await gone
        await closed
      })
    }
  })
}

describe("an aborted call", () => {
  it("rejects with `Aborted`, whose name is that of an aborted fetch", async () => {
    await using service = await bareService(() => {})
    const reason = new Error("the user left")
    const error = await rejection(service.client.nodes.get(7, { signal: AbortSignal.abort(reason) }))
    assert.instanceOf(error, Aborted)
    assert.strictEqual(error.name, "AbortError")
    assert.strictEqual(error.cause, reason)
    assert.strictEqual(error.operation, "nodes.get")
  })

  it("sends nothing when its signal was aborted before", async () => {
    let requests = 0
    await using service = await bareService(() => void requests++)
    await rejection(service.client.nodes.delete(7, { signal: AbortSignal.abort() }))
    assert.strictEqual(requests, 0)
  })

  it("reports that it may have changed something when it was sent", async () => {
    const controller = new AbortController()
    await using service = await bareService(() => controller.abort())
    const error = await rejection(service.client.nodes.delete(7, { signal: controller.signal }))
    assert.propertyVal(error, "changed", "maybe")
  })

  it("leaves no listener on a signal that outlives it", async () => {
    await using service = await mockService()
    const { signal } = new AbortController()
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<AbortSignal["addEventListener"]>) => {
      listeners++
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<AbortSignal["removeEventListener"]>) => {
      listeners--
      removeEventListener.apply(signal, args)
    }
    await service.client.images.saved({ signal })
    await Array.fromAsync(service.client.nodes.list({ signal }))
    await rejection(service.client.nodes.get(1, { signal }))
    assert.strictEqual(listeners, 0)
  })
})

describe("a closed client", () => {
  it("refuses every call with `ClientClosed`", async () => {
    await using service = await mockService()
    const { client } = service
    await client.close()
    const error = await rejection(client.nodes.get(7))
    assert.instanceOf(error, ClientClosed)
    assert.strictEqual(error.changed, "no")
    assert.instanceOf(await rejection(Array.fromAsync(client.nodes.list())), ClientClosed)
    await client.close()
  })

  it("is what `await using` leaves", async () => {
    const options = { baseUrl: "http://127.0.0.1:1", apiKey: "k", accessToken: "t" }
    const outer = await (async () => {
      await using client = createClient(options)
      return client
    })()
    assert.instanceOf(await rejection(outer.images.saved()), ClientClosed)
  })
})
