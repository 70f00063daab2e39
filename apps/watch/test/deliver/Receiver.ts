/** A receiver of webhooks on this machine. A test can read what it received, and change what it answers. */
import { HttpService } from "@berthkit/testing/HttpService"
import { Effect, Redacted } from "effect"
import type { SinkOptions } from "../../src/deliver/SinkOptions.ts"
import { stdoutSink } from "../../src/settings/storeSettings.ts"
import { makeSignal } from "../../src/store/Signal.ts"

export interface Received {
  /** The header `webhook-id`. */
  readonly id: string
  readonly event: any
}

/** A status to answer with; null for no answer at all. */
export type Answer = (event: any, index: number) => number | null

export class Receiver {
  readonly received: Array<Received> = []
  readonly #signal = makeSignal()
  answer: Answer = () => 200
  url = ""

  static readonly start = Effect.gen(function* () {
    const receiver = new Receiver()
    const service = yield* HttpService.start((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (text: string) => (body += text))
      request.on("end", () => {
        const event = JSON.parse(body)
        receiver.received.push({ id: String(request.headers["webhook-id"]), event })
        const status = receiver.answer(event, receiver.received.length - 1)
        if (status !== null) response.writeHead(status).end()
        receiver.#signal.notifyUnsafe()
      })
    })
    receiver.url = service.url
    return receiver
  })

  /** Waits until it has received this many requests. */
  readonly requests = (count: number) =>
    Effect.gen({ self: this }, function* () {
      let seen = 0
      while (this.received.length < count) seen = yield* this.#signal.wait(seen)
    })
}

export const sinkTo = ({ url }: Receiver, over: Partial<SinkOptions> & { readonly name: string }): SinkOptions => ({
  ...stdoutSink,
  target: {
    _tag: "Webhook",
    url: Redacted.make(new URL(url)),
    secrets: [],
    isPrivateAllowed: true,
    format: "cloudevents",
    key: null,
    headers: [],
    template: null
  },
  ...over
})
