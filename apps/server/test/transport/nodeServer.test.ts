import { type AddressInfo, connect } from "node:net"
import { certificate, key } from "@berthkit/testing/certificate"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { defaultTimeouts } from "../../src/transport/limits.ts"
import { makeNodeServer } from "../../src/transport/nodeServer.ts"

describe("a connection to a TLS port", () => {
  it.live("on which no handshake comes is closed without a reply, and costs no allowance", () =>
    Effect.gen(function* () {
      let rejected = 0
      const reject = () => {
        rejected += 1
        return { status: 408, headers: {}, body: "" }
      }
      const { server } = makeNodeServer({ ...defaultTimeouts, headersMillis: 100 }, reject, { key, cert: certificate })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => server.close())
      )
      const received = yield* Effect.promise(
        () =>
          new Promise<string>((resolve) => {
            let text = ""
            const socket = connect((server.address() as AddressInfo).port, "127.0.0.1")
            socket.on("data", (data: Buffer) => (text += data.toString("latin1"))).on("close", () => resolve(text))
          })
      )
      expect([received, rejected]).toEqual(["", 0])
    })
  )
})
