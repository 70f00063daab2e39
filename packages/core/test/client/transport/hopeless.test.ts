/**
 * Failures below HTTP that another attempt cannot repair: a certificate that is not trusted, a proxy that refuses, a `fetch` with a bug.
 */
import { createClient, isBerthError } from "@berthkit/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { inspect } from "node:util"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { unreachable } from "../../../src/client/transport/unreachable.ts"
import { inTime } from "../../inTime.ts"
import { accessToken, apiKey } from "../../oddCredentials.ts"

const coded = (code: string, message = "failed") => Object.assign(new Error(message), { code })
const fetchFailed = (cause: unknown) => new TypeError("fetch failed", { cause })

const hopeless: ReadonlyArray<readonly [string, Error, "certificate" | "proxy" | "fetch"]> = [
  ...[
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "ERR_TLS_CERT_ALTNAME_INVALID"
  ].map((code) => [code, fetchFailed(coded(code)), "certificate"] as const),
  [
    "Deno's word for it",
    new TypeError("error sending request: invalid peer certificate: UnknownIssuer"),
    "certificate"
  ],
  [
    "a proxy that asks node for a password",
    coded("ERR_PROXY_TUNNEL", "Failed to establish tunnel: HTTP/1.1 407 Proxy Authentication Required"),
    "proxy"
  ],
  [
    "a proxy that asks undici for a password",
    fetchFailed(coded("UND_ERR_ABORTED", "Proxy response (407) !== 200 when HTTP Tunneling")),
    "proxy"
  ],
  ["a mistake", new TypeError("Cannot read properties of undefined (reading 'x')"), "fetch"],
  ["a name that does not exist", new ReferenceError("agent is not defined"), "fetch"]
]

const passing: ReadonlyArray<readonly [string, Error]> = [
  ["Node's fetch", fetchFailed(coded("ECONNRESET"))],
  ["Bun's", coded("ConnectionRefused", "Unable to connect. Is the computer able to access the url?")],
  ["Deno's", new TypeError("error sending request for url (https://service.test/): client error (Connect)")],
  ["Chrome's", new TypeError("Failed to fetch")],
  ["Firefox's", new TypeError("NetworkError when attempting to fetch resource.")],
  ["Safari's", new TypeError("Load failed")],
  ["a proxy that is overloaded", coded("ERR_PROXY_TUNNEL", "Failed to establish tunnel: HTTP/1.1 503 Busy")],
  ["an error that says nothing", new Error("boom")]
]

const promised = async (error: Error) => {
  let sent = 0
  const fetch = async () => {
    sent++
    throw error
  }
  await using client = createClient({ baseUrl: "https://service.test", apiKey, accessToken, fetch, maxAttempts: 2 })
  const thrown = await client.nodes.listPage().catch((thrown: unknown) => thrown)
  if (!isBerthError(thrown) || thrown._tag !== "Unreachable") return assert.fail(inspect(thrown))
  return { thrown, sent }
}

const effectful = (error: Error) => {
  let sent = 0
  const fetch = async () => {
    sent++
    throw error
  }
  const client = Berth.layer({
    baseUrl: "https://service.test",
    credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) },
    maxAttempts: 2
  }).pipe(Layer.provide(FetchHttpClient.layer))
  return inTime(Effect.flip(Nodes.use((nodes) => nodes.listPage()))).pipe(
    Effect.provide(client),
    Effect.provideService(FetchHttpClient.Fetch, fetch),
    Effect.map((thrown) => ({ thrown, sent }))
  )
}

describe("a failure that no further attempt can mend", () => {
  for (const [what, error, fault] of hopeless) {
    it(`is tried once, with its cause: ${what}`, async () => {
      const { sent, thrown } = await promised(error)
      assert.strictEqual(sent, 1)
      assert.deepStrictEqual([thrown.fault, thrown.retryable], [fault, false])
      assert.instanceOf(thrown.cause, Error)
      assert.strictEqual((thrown.cause as Error).message, error.message)
      if (fault === "certificate") assert.include(thrown.hint, "NODE_EXTRA_CA_CERTS")
      // The text of an error alone proves nothing about what was sent.
      if (fault !== "fetch") assert.strictEqual(thrown.sent, what.startsWith("Deno") ? "maybe" : "no")
      if (fault === "fetch") assert.match(thrown.message, /^The fetch that the client was given failed: /)
    })
    it.effect(`is tried once over HttpClient, too: ${what}`, () =>
      Effect.gen(function* () {
        const { sent, thrown } = yield* effectful(error)
        assert.strictEqual(sent, 1)
        assert.strictEqual(thrown.reason._tag === "Unreachable" && thrown.reason.fault, fault)
        assert.strictEqual((thrown.cause as Error).message, error.message)
        assert.strictEqual(thrown.reason.cause, thrown.cause)
      })
    )
  }
  for (const [what, error] of passing) {
    it(`is none that the network may have caused: ${what}`, async () => {
      const { sent, thrown } = await promised(error)
      assert.deepStrictEqual([sent, thrown.fault, thrown.retryable], [2, "network", true])
      assert.strictEqual((thrown.cause as Error).message, error.message)
    })
  }

  for (const [what, given] of [
    ["nothing", async () => undefined],
    ["an object", async () => ({})],
    ["an object with headers that cannot be read", async () => ({ status: 200, headers: {} })],
    [
      "a thrown text",
      async () => {
        throw "a"
      }
    ]
  ] as const) {
    it(`is tried once, and says that the given fetch returned no Response: ${what}`, async () => {
      let sent = 0
      const fetch = (async () => {
        sent++
        return given()
      }) as unknown as typeof globalThis.fetch
      await using client = createClient({ baseUrl: "https://service.test", apiKey, accessToken, fetch })
      const thrown = await client.nodes.listPage().catch((thrown: unknown) => thrown)
      if (!isBerthError(thrown) || thrown._tag !== "Unreachable") return assert.fail(inspect(thrown))
      assert.deepStrictEqual([sent, thrown.attempts.length, thrown.fault, thrown.sent], [1, 1, "fetch", "maybe"])
      assert.strictEqual(thrown.message, "The fetch that the client was given failed: it returned no Response.")
    })
  }

  it("is whatever a fetch throws before it returns a promise", async () => {
    const fetch = () => {
      throw new Error("boom")
    }
    await using client = createClient({ baseUrl: "https://service.test", apiKey, accessToken, fetch })
    const thrown = await client.nodes.listPage().catch((thrown: unknown) => thrown)
    assert.isTrue(isBerthError(thrown) && thrown._tag === "Unreachable" && thrown.fault === "fetch")
    assert.isTrue(isBerthError(thrown) && thrown.attempts.length === 1)
  })

  it.effect("keeps no credential in its cause, in no encoding and at no depth", () =>
    Effect.gen(function* () {
      const secrets = [apiKey, accessToken, encodeURIComponent(apiKey), btoa(apiKey), "pass-word"]
      const inner = coded(
        "SELF_SIGNED_CERT_IN_CHAIN",
        `via http://me:pass-word@proxy.test at ${secrets.slice(0, -1).join(" ")}`
      )
      inner.stack = `Error: ${inner.message}\n    at https://service.test/?apikey=${encodeURIComponent(apiKey)}`
      const error = new TypeError(`https://service.test/?apikey=${encodeURIComponent(apiKey)}`, { cause: inner })
      const { thrown } = yield* Effect.promise(() => promised(error))
      const effect = yield* effectful(error)
      for (const shown of [
        inspect(thrown, { depth: 20 }),
        inspect(effect.thrown, { depth: 20 }),
        JSON.stringify(thrown)
      ]) {
        for (const secret of secrets) assert.notInclude(shown, secret)
      }
      assert.strictEqual(((thrown.cause as Error).cause as { readonly code: string }).code, "SELF_SIGNED_CERT_IN_CHAIN")
    })
  )

  it("may still have been carried out if a reply had begun", () => {
    const reason = unreachable(coded("CERT_HAS_EXPIRED"), true)
    assert.deepStrictEqual([reason.sent, reason.mayBeProcessed, reason.retry], ["yes", true, "never"])
  })

  it.each([
    coded("ECONNRESET", "request to https://api-proxy.test/?apikey=k-403-z failed, reason: read ECONNRESET"),
    new Error("Bad gateway: upstream proxy closed after 407 bytes"),
    coded("ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN"),
    coded("UND_ERR_RES_CONTENT_LENGTH_MISMATCH")
  ])("may have been carried out whatever words are in it: %s", (error) => {
    const reason = unreachable(error, false)
    assert.deepStrictEqual([reason.sent, reason.fault], ["maybe", "network"])
  })
})
