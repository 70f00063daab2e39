import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as fc from "fast-check"
import { signedHeaders, signingKey } from "../../src/deliver/webhook/send.ts"
import { sinkBaseline } from "../../src/events/Event.ts"
import { verify, type VerifyOptions, WebhookError, type WebhookHeaders } from "../../src/receive.ts"

const nowMillis = Date.UTC(2026, 8, 1)
const [secret, other] = [7, 8].map((byte) => `whsec_${Buffer.alloc(24, byte).toString("base64")}`) as [string, string]

const of = { account: "main", accountId: "a", nodeId: 7, seq: 3, sink: "hook", record: {}, atMillis: nowMillis }
const { body, id } = sinkBaseline(of)

const signed = (secrets: ReadonlyArray<string>, atMillis = nowMillis, text = body) =>
  signedHeaders(
    id,
    atMillis,
    text,
    secrets.map((each) => Redacted.make(signingKey(each)!))
  )

const reasonOf = async (checked: Promise<unknown>) => {
  const error = await checked.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(WebhookError)
  const { hint, message, name, reason } = error as WebhookError
  expect(name).toBe("WebhookError")
  for (const text of [hint, message]) expect(text).not.toContain(secret.slice(6, 20))
  return reason
}

describe("a delivery", () => {
  it("that the daemon signed gives its event", async () => {
    const event = await verify(body, signed([secret]), secret, { nowMillis })
    expect(event).toEqual(JSON.parse(body))
  })

  it("is read from a request, from Node's headers, and from bytes", async () => {
    const headers = signed([secret])
    const inCapitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    const inLists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    const all: ReadonlyArray<WebhookHeaders> = [new Headers(headers), headers, inCapitals, inLists]
    for (const each of all) {
      for (const bytes of [body, new TextEncoder().encode(body)]) {
        expect(await verify(bytes, each, secret, { nowMillis })).toHaveProperty("id", id)
      }
    }
  })

  it("is believed while its secret is replaced, on both sides", async () => {
    for (const [theirs, ours] of [
      [[secret], [other, secret]],
      [[secret, other], [other]],
      [[other, secret], [secret]]
    ] as const) {
      expect(await verify(body, signed(theirs), ours, { nowMillis })).toHaveProperty("id", id)
    }
  })

  it.each([
    [300, 300, undefined],
    [301, 300, "too-old"],
    [-300, 300, undefined],
    [-301, 300, "too-new"],
    [11, 10, "too-old"]
  ] as const)("that was sent %i s ago, where %i are tolerated: %s", async (age, toleranceSeconds, reason) => {
    const checked = verify(body, signed([secret], nowMillis - age * 1000), secret, { nowMillis, toleranceSeconds })
    if (reason === undefined) expect(await checked).toHaveProperty("id", id)
    else expect(await reasonOf(checked)).toBe(reason)
  })

  it.each([
    ["toleranceSeconds", Number.NaN],
    ["toleranceSeconds", Number.POSITIVE_INFINITY],
    ["toleranceSeconds", 0],
    ["toleranceSeconds", "300"],
    ["toleranceSeconds", null],
    ["nowMillis", Number.NaN],
    ["nowMillis", Number.NEGATIVE_INFINITY],
    ["nowMillis", "1788220800000"],
    ["nowMillis", new Date(nowMillis)],
    ["nowMillis", null]
  ] as const)("is not checked with %s: %s", async (name, value) => {
    const options = { nowMillis, [name]: value } as VerifyOptions
    const old = verify(body, signed([secret], nowMillis - 86_400_000), secret, options)
    expect(await reasonOf(old)).toBe("option-unusable")
    expect(await reasonOf(verify(body, signed([secret]), secret, options))).toBe("option-unusable")
    await expect(old).rejects.toThrow(name)
  })

  it.each([[JSON.parse(body)], [undefined], [null], [42], [[...new TextEncoder().encode(body)]]])(
    "whose body is not text or bytes is refused, with the raw body as the way out: %#",
    async (parsed) => {
      const checked = verify(parsed, signed([secret]), secret, { nowMillis })
      expect(await reasonOf(checked)).toBe("body-unusable")
      await expect(checked).rejects.toThrow("The body is not text or bytes.")
      await expect(checked).rejects.toHaveProperty("hint", expect.stringContaining("raw body"))
    }
  )

  it("without a signature names the setting `secrets` of the sink", async () => {
    await expect(verify(body, {}, secret, { nowMillis })).rejects.toHaveProperty(
      "hint",
      expect.stringContaining("`secrets`")
    )
  })

  it("that was changed anywhere is refused", async () => {
    const headers = signed([secret])
    const names = Object.keys(headers)
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat({ max: names.length }), async (at, which) => {
        const flipped = (text: string) => {
          const i = at % text.length
          return text.slice(0, i) + String.fromCodePoint(text.charCodeAt(i) ^ 1) + text.slice(i + 1)
        }
        const name = names[which]
        const [text, changed] =
          name === undefined ? [flipped(body), headers] : [body, { ...headers, [name]: flipped(headers[name]!) }]
        const reason = await reasonOf(verify(text, changed, secret, { nowMillis, toleranceSeconds: 1e12 }))
        expect(["signature-differs", "header-unreadable"]).toContain(reason)
      })
    )
  })

  it("of another secret, or without a signature or another header, is refused", async () => {
    const headers = signed([secret])
    expect(await reasonOf(verify(body, headers, other, { nowMillis }))).toBe("signature-differs")
    for (const name of Object.keys(headers)) {
      const { [name]: _, ...others } = headers
      expect(await reasonOf(verify(body, others, secret, { nowMillis }))).toBe("header-missing")
    }
  })

  it.each([
    ["1".repeat(13), "header-unreadable"],
    ["1788220800e0", "header-unreadable"],
    ["1e400", "header-unreadable"],
    ["NaN", "header-unreadable"],
    ["-5", "header-unreadable"],
    ["1788220800.5", "header-unreadable"],
    ["1 788 220 800", "header-unreadable"],
    ["0x6A95", "header-unreadable"],
    ["1788220800, 1788220801", "header-unreadable"],
    ["٣", "header-unreadable"],
    [" ", "header-missing"],
    ["", "header-missing"]
  ] as const)("with the timestamp %j is refused: %s", async (timestamp, reason) => {
    const headers = { ...signed([secret]), "webhook-timestamp": timestamp }
    expect(await reasonOf(verify(body, headers, secret, { nowMillis }))).toBe(reason)
  })

  it("that was signed with a timestamp of the year 33658 was sent too far in the future", async () => {
    const atMillis = 999_999_999_999_000
    expect(await reasonOf(verify(body, signed([secret], atMillis), secret, { nowMillis }))).toBe("too-new")
  })

  it("has its timestamp and its signatures whatever is around them", async () => {
    const headers = signed([secret])
    const [timestamp, signature] = [headers["webhook-timestamp"]!, headers["webhook-signature"]!]
    for (const each of [
      { "webhook-timestamp": ` ${timestamp}\t` },
      { "webhook-signature": ` v1,${btoa("another")}  ${signature} ` },
      { "webhook-signature": `v1,${btoa("another")},${signature}` },
      { "webhook-signature": [`v1,${btoa("another")}`, signature] },
      { "webhook-signature": `v1a,${btoa("of a key pair")} ${signature}` }
    ]) {
      expect(await verify(body, { ...headers, ...each } as WebhookHeaders, secret, { nowMillis })).toHaveProperty(
        "id",
        id
      )
    }
  })

  it.each([
    ["v1", "header-unreadable"],
    ["v1,", "header-unreadable"],
    ["v1,%%%", "header-unreadable"],
    ["v2,AAAA", "header-unreadable"],
    ["v1,AAAA", "signature-differs"],
    ["  ", "header-missing"]
  ] as const)("with the signature %j is refused: %s", async (signature, reason) => {
    const headers = { ...signed([secret]), "webhook-signature": signature }
    expect(await reasonOf(verify(body, headers, secret, { nowMillis }))).toBe(reason)
  })

  it("that is no event is refused, though it is signed", async () => {
    for (const text of ["", "null", '{"text":"web was deleted"}', '{"specversion":"1.0","type":"x"}']) {
      expect(await reasonOf(verify(text, signed([secret], nowMillis, text), secret, { nowMillis }))).toBe(
        "not-an-event"
      )
    }
  })

  it.each([[undefined], [[undefined]], [null]])("is not checked with %j, because no secret is set", async (unset) => {
    const secrets = unset as unknown as string
    expect(await reasonOf(verify(body, signed([secret]), secrets, { nowMillis }))).toBe("secret-unusable")
  })

  it.each([[""], ["whsec_"], ["whsec_%%%"], ["whsec_c2hvcnQ="], [[]]])(
    "is not checked with %j, which is no secret",
    async (secrets) => {
      expect(await reasonOf(verify(body, signed([secret]), secrets, { nowMillis }))).toBe("secret-unusable")
    }
  )
})
