import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { Webhook } from "standardwebhooks"
import { signedHeaders, signingKey } from "../../../src/deliver/webhook/sign.ts"

const secretOf = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`
const keyOf = (byte: number) => Redacted.make(signingKey(secretOf(byte))!)
const body = `{"type":"berth.node.created","name":"ü"}`

describe("the signature of a webhook", () => {
  it("is accepted by a receiver of Standard Webhooks that has one of its secrets", () => {
    const headers = signedHeaders("id-1", Date.now(), body, [keyOf(1), keyOf(2)])
    for (const byte of [1, 2]) expect(new Webhook(secretOf(byte)).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(secretOf(3)).verify(body, headers)).toThrow()
    expect(() => new Webhook(secretOf(1)).verify(`${body} `, headers)).toThrow()
    expect(() => new Webhook(secretOf(1)).verify(body, { ...headers, "webhook-id": "id-2" })).toThrow()
    // A receiver refuses what is older than five minutes.
    const old = signedHeaders("id-1", Date.now() - 301_000, body, [keyOf(1)])
    expect(() => new Webhook(secretOf(1)).verify(body, old)).toThrow()
  })

  it("is left out where there is no secret", () => {
    expect(Object.keys(signedHeaders("id-1", 0, body, []))).toEqual(["webhook-id", "webhook-timestamp"])
  })

  it.each(["", "whsec_", "whsec_AAAA", "not base64!", `whsec_${"A".repeat(100)}`])(
    "needs a key: %j is none",
    (text) => {
      expect(signingKey(text)).toBe(undefined)
    }
  )
})
