import { Aborted, ClientClosed, createClient } from "@berth/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { bareService, mockService, rejection } from "./Service.ts"

/** Where a call may be when it is let go of: what the service does, and what tells that the call has got there. */
const places: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  "on the wire": () => {},
  "while a body trickles": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.write(`{"message":"Suc`)
  },
  "in backoff": (_, response) => {
    response.writeHead(503, { "retry-after": "30" })
    response.end()
  },
  "in the queue": (_, response) => {
    response.writeHead(429, { "ratelimit-limit": "10", "ratelimit-remaining": "0", "retry-after": "30" })
    response.end()
  }
}

/** Whether the promise is settled before the event loop turns: no timer, no socket and no other task in between. */
const settledAtOnce = (promise: Promise<unknown>) =>
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
    for (const [place, listener] of Object.entries(places)) {
      it(`ends a call ${place} at once`, async () => {
        const arrived = Promise.withResolvers<ServerResponse>()
        await using service = await bareService((request, response) => {
          listener(request, response)
          arrived.resolve(response)
        })
        const controller = new AbortController()
        const call = service.client.nodes.get(7, { signal: controller.signal })
        const response = await arrived.promise
        // The reply, where there is one, has to get back to the client, and the next attempt into the queue.
        await service.client.raw.request({ method: "GET", path: "/" }, { deadline: 50 }).catch(() => {})

        const gone = place.startsWith("in") ? undefined : once(response, "close")
        const closed = end === "a signal" ? controller.abort("enough") : service.client.close()
        assert.isTrue(await settledAtOnce(call))
        const error = await rejection(call)
        assert.propertyVal(error, "_tag", tag)
        assert.propertyVal(error, "changed", "no")
        // The request is let go of too, not only its caller.
        await gone
        await closed
      })
    }
  })
}

describe("an aborted call", () => {
  it("rejects with `Aborted`, which looks like the abort of a fetch", async () => {
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

  it("says that it may have changed something when it was sent", async () => {
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
