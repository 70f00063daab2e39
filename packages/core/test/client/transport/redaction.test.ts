import { type HttpReply, layer } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Logger, Redacted, References, Tracer } from "effect"
import * as fc from "fast-check"
import { inspect } from "node:util"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import { redactedReason, redactor } from "../../../src/client/transport/Redaction.ts"
import {
  InvalidRequest,
  NodeNotFound,
  RateLimited,
  ServiceFault,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
  Unreachable
} from "../../../src/domain/ErrorReason.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { isSoak } from "@berthkit/testing/chance"
import { collected } from "@berthkit/testing/telemetry"
import { seenOf, spellingsOf } from "@berthkit/testing/spellings"
import { inTime } from "../../inTime.ts"
import { accessToken, apiKey, oddCredentials } from "../../oddCredentials.ts"
import failures from "@berthkit/testing/vectors/failures.json" with { type: "json" }

const secrets = [apiKey, accessToken]

/** For each spelling: replies that repeat the request's credentials, as an error page of a proxy does. */
const echoes = Object.keys(spellingsOf(""))
  .map((name) => {
    const [key, token] = secrets.map((secret) => spellingsOf(secret)[name]!) as [string, string]
    const both = `${key} ${token}`
    const answers: ReadonlyArray<HttpReply> = [
      { status: 401, body: `{"message":"bad key ${both}","code":401,"data":{},"errors":{"key":["${both}"]}}` },
      { status: 422, body: `{"code":422,"errors":{"${key}":["${token}"],"plan":["no ${both}"]}}` },
      // An excerpt may cut a secret, and must not show its beginning either.
      ...[key, token].map((one) => ({ status: 400, body: `{"code":400,"message":"${".".repeat(200 - 12)}${one}"}` })),
      { status: 409, body: JSON.stringify({ code: 409, message: both }) },
      { status: 502, body: `<html>GET /nodes/7/?apikey=${both}</html>` },
      { status: 200, body: `<html>${both}</html>` },
      { status: 200, body: `{"code":200,"data":{"id":"${both}"}}` },
      { status: 302, headers: { location: `https://portal.test/?next=${encodeURIComponent(both)}` } }
    ]
    return { name, answers }
  })
  .filter((_, index) => isSoak || index % 4 === 0)

/** Everything that a run shows: its exit in every form, its log at the lowest level, and its spans. */
const shown = Effect.fnUntraced(function* (answer: HttpReply | "refused") {
  const output: Array<string> = []
  const refusal = new Cause.UnknownError(undefined, `connect ECONNREFUSED ?apikey=${encodeURIComponent(apiKey)}`)
  const client = layer(() => (answer === "refused" ? Effect.fail(refusal) : answer), { credentials: oddCredentials })
  const logger = Logger.make((options) => {
    output.push(inspect(options.message, { depth: 12 }), Cause.pretty(options.cause))
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        end(time, exit)
        output.push(span.name, inspect(Array.from(span.attributes), { depth: 12 }))
        if (Exit.isFailure(exit)) output.push(inspect(exit, { depth: 12 }))
      }
      return span
    }
  })
  const calls = Effect.gen(function* () {
    const all: ReadonlyArray<Effect.Effect<unknown, BerthError, Nodes | RawApi>> = [
      Nodes.use((nodes) => nodes.get(NodeId.make(7))),
      Nodes.use((nodes) => nodes.create({ name: "web", plan: "P", image: "I" })),
      RawApi.use((raw) => raw.request({ method: "GET", path: "/nodes/" }))
    ]
    for (const call of all) {
      // Leave out the data of a success, which belongs to the caller.
      const exit = yield* inTime(Effect.exit(Effect.asVoid(call)))
      yield* Effect.logTrace("done", exit)
      output.push(inspect(exit, { depth: 12 }), JSON.stringify(exit), String(exit))
      if (Exit.isFailure(exit)) {
        const error = Cause.squash(exit.cause)
        output.push(Cause.pretty(exit.cause), String(error), error instanceof Error ? String(error.stack) : "")
      }
    }
  })
  yield* calls.pipe(
    Effect.provide(client),
    Effect.withTracer(tracer),
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, "All")
  )
  const { payloads } = yield* collected(Effect.provide(calls, client))
  return { own: output.join("\n"), payloads }
})

const assertSilent = Effect.fnUntraced(function* (answers: ReadonlyArray<HttpReply | "refused">) {
  for (const answer of answers) {
    const { own, payloads } = yield* shown(answer)
    assert.include(own, "nodes.get")
    assert.include(own, "attempt")
    for (const signal of ["/v1/logs", "/v1/traces", "/v1/metrics", "berth_requests_total"]) {
      assert.include(payloads, signal)
    }
    assert.deepStrictEqual(seenOf(own + payloads, secrets), [], JSON.stringify(answer))
    for (const secret of secrets) assert.notInclude(own + payloads, secret.slice(0, 8), JSON.stringify(answer))
  }
})

describe("credentials appear in no error, log line, span, metric or OTLP payload", () => {
  for (const { answers, name } of echoes) {
    it.effect(`when the service repeats them, spelled: ${name}`, () => assertSilent(answers))
  }
  for (const answer of [...failures, "refused" as const, { name: "success", status: 200, body: `{"data":{"id":1}}` }]) {
    it.effect(`when the service's answer is: ${answer === "refused" ? answer : answer.name}`, () =>
      assertSilent([answer])
    )
  }
})

describe("a text that is cut", () => {
  const redact = redactor(oddCredentials)
  const spellings = secrets.flatMap((secret) => Object.values(spellingsOf(secret)))
  const piece = fc.oneof(
    fc.constantFrom("apikey=", "Authorization: Bearer ", "\n"),
    fc.constantFrom(...spellings),
    fc.constantFrom(...spellings).chain((spelled) => fc.nat(spelled.length).map((length) => spelled.slice(0, length))),
    fc.string({ maxLength: 40 }),
    fc.nat(300).map((length) => ".".repeat(length))
  )

  it("is the beginning of the masked text, at any length", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(400), fc.nat(4000), (pieces, length, more) => {
        const text = pieces.join("") + " ".repeat(more)
        const whole = redact(text)
        const cut = redact(text, length)
        assert.isTrue(whole.startsWith(cut))
        assert.isAtMost(cut.length, length)
        if (text.length <= length) assert.strictEqual(cut, whole)
      })
    )
  })

  it("does not end within a secret, at any distance, in any spelling", () => {
    for (const spelled of spellings) {
      for (let before = 150; before <= 200; before++) {
        const text = `${".".repeat(before)}${spelled}${" more".repeat(2000)}`
        const cut = redact(text, 200)
        assert.isTrue(redact(text).startsWith(cut))
        assert.isAtLeast(cut.length, Math.min(before + "<redacted>".length, 200))
      }
    }
  })

  it("does not end within a secret after many long ones with short masks", () => {
    for (const spelled of spellings) {
      const text = spelled.repeat(100)
      const whole = redact(text)
      for (let length = 10; length < 400; length += 10) assert.isTrue(whole.startsWith(redact(text, length)))
    }
  })

  it("has the full length where no secret is near", () => {
    assert.strictEqual(redact("x".repeat(10_000), 200), "x".repeat(200))
  })

  it("takes no longer when the text is long", () => {
    for (const unit of ["\\", '"', "%25", "&amp;", "u0000", apiKey.slice(0, 8)]) {
      const text = unit.repeat((16 * 1024 * 1024) / unit.length)
      for (let i = 0; i < 100; i++) assert.isAtMost(redact(text, 200).length, 200)
    }
  })
})

describe("masking takes time linear in the text", () => {
  for (const [name, apiKey] of [
    ["an ordinary key", "key/with+odd=chars&more"],
    ["a key with backslashes", "\\\\\\\\k\\\\\\\\\\e\\y"],
    ["a short key", "k"]
  ] as const) {
    const redact = redactor({ apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) })
    it(`of ${name}`, () => {
      for (const unit of [
        "\\",
        "\\\\\\\\\\\\\\\\k",
        "%",
        "%25",
        "u0000000",
        "&amp;",
        "bearer",
        "apikey=%25",
        `apikey=${apiKey.slice(0, 8)}`,
        `apikey=${apiKey.slice(0, 4)}\\n\n    `,
        apiKey.slice(0, 8),
        "6b ",
        "auth",
        "auth-",
        "session-",
        "x-key"
      ]) {
        redact(unit.repeat((512 * 1024) / unit.length))
        redact(unit.slice(0, 1) + unit.slice(1).repeat((512 * 1024) / unit.length))
      }
    })
    it(`${name} is still masked, in every spelling`, () => {
      for (const [spelling, spelled] of Object.entries(spellingsOf(apiKey))) {
        // A single character cannot be recognized within a string that is encoded as a whole.
        if (apiKey === "k" && /of (an address|a login|a longer text)|dump/.test(spelling)) continue
        const text = `apikey=${spelled}&page_no=1`
        assert.notInclude(redact(text), `=${spelled}&`, spelling)
      }
    })
  }
})

describe("a part of a secret", () => {
  const redact = redactor(oddCredentials)

  it("is masked in the position of a credential that was cut off", () => {
    for (const [text, masked] of [
      ["GET /nodes/?apikey=key/with+od…", "GET /nodes/?apikey=<redacted>…"],
      ["apikey=key%2Fwith%2Bod...", "apikey=<redacted>..."],
      ["apikey%3Dkey%252Fwi", "apikey%3D<redacted>"],
      ['{"api_key":"key\\/with"}', '{"api_key":"<redacted>"}'],
      ["x-api-key: key/", "x-api-key: <redacted>"],
      ["Authorization: Bearer token.with-o", "Authorization: Bearer <redacted>"],
      ["Bearer toke… (cut)", "Bearer <redacted>… (cut)"],
      [
        "&quot;authorization&quot;:&quot;Bearer token.w&quot;",
        "&quot;authorization&quot;:&quot;Bearer <redacted>&quot;"
      ],
      [`token=${btoa(accessToken).slice(0, 12)}...`, "token=<redacted>..."],
      ["apikey=key/with, apikey=key/with+o", "apikey=<redacted>, apikey=<redacted>"]
    ] as const) {
      assert.strictEqual(redact(text), masked)
    }
  })

  it("is masked on both sides of a line's end", () => {
    for (const end of ["\n", "\r\n", "\\\n", "\\\n    ", "\\n", "\\r\\n", "\\\\n"]) {
      const text = `apikey=key/with${end}+odd=chars&more is wrong`
      assert.strictEqual(redact(text), "apikey=<redacted> is wrong", JSON.stringify(end))
    }
    assert.strictEqual(redact("apikey=key/with\nout a key"), "apikey=<redacted>\nout a key")
  })

  it("is masked in every spelling and at any length", () => {
    for (const [name, spelled] of Object.entries(spellingsOf(apiKey))) {
      // If a secret was encoded together with another text, no part of the result is the beginning of the secret alone.
      if (/of (an address|a login|a longer text)|dump/.test(name)) continue
      const shown = redact(`apikey=${spelled.slice(0, Math.ceil(spelled.length * 0.7))}…`)
      // A backslash before the secret stays, and so does the rest of an encoded character that was cut.
      assert.match(shown, /^apikey=\\{0,2}<redacted>.{0,7}…$/, name)
    }
  })

  it("is masked as far as it goes, where both secrets begin alike", () => {
    const alike = redactor({ apiKey: Redacted.make("canary-key-123"), accessToken: Redacted.make("canary-token-456") })
    assert.strictEqual(alike("apikey=canary-key-1… Bearer canary-tok…"), "apikey=<redacted>… Bearer <redacted>…")
  })

  it("is not masked when it is too short, in another position, or a word", () => {
    for (const text of [
      "apikey=key",
      "key/with+odd",
      'Bearer error="invalid_token"',
      "Bearer token is missing",
      "Bearer token, or none",
      "Bearer tokens are needed"
    ]) {
      assert.strictEqual(redact(text), text)
    }
    const short = redactor({ apiKey: Redacted.make("k"), accessToken: Redacted.make("no") })
    assert.strictEqual(short("apikey=key Bearer now"), "apikey=key Bearer now")
  })
})

describe("a secret that could be part of a word", () => {
  const redact = redactor({ apiKey: Redacted.make("t"), accessToken: Redacted.make("no+way") })

  it("is masked in the position of a credential", () => {
    for (const [text, masked] of [
      ["GET /nodes/?apikey=t&page_no=1", "GET /nodes/?apikey=<redacted>&page_no=1"],
      ["GET /nodes/?page_no=1&apikey=t", "GET /nodes/?page_no=1&apikey=<redacted>"],
      ["next=%2Fnodes%2F%3Fapikey%3Dt%26page_no%3D1", "next=%2Fnodes%2F%3Fapikey%3D<redacted>%26page_no%3D1"],
      ['{"apikey":"t"}', '{"apikey":"<redacted>"}'],
      ['{"apiKey": "t"}', '{"apiKey": "<redacted>"}'],
      ['{\\"api_key\\":\\"t\\"}', '{\\"api_key\\":\\"<redacted>\\"}'],
      ["&quot;apikey&quot;:&quot;t&quot;", "&quot;apikey&quot;:&quot;<redacted>&quot;"],
      ["x-api-key: t", "x-api-key: <redacted>"],
      ["Authorization: Bearer no+way", "Authorization: Bearer <redacted>"],
      ["authorization=Bearer%20no%2Bway", "authorization=Bearer%20<redacted>"],
      ['"authorization":"no\\u002bway"', '"authorization":"<redacted>"'],
      ["Bearer no+way is no token", "Bearer <redacted> is no token"],
      ["access_token=no%2Bway", "access_token=<redacted>"]
    ] as const) {
      assert.strictEqual(redact(text), masked)
    }
  })

  const named = redactor({ apiKey: Redacted.make("abc1234"), accessToken: Redacted.make("no+way") })

  it.each([
    "api key",
    "auth",
    "bearer",
    "Cookie",
    "credentials",
    "jwt",
    "password",
    "pwd",
    "secret",
    "sessionid",
    "signature",
    "token",
    "user_passphrase",
    "x-auth",
    "X-Auth-User",
    "X-Functions-Key"
  ])("is masked after the name %s, in a text and in a field", (name) => {
    assert.strictEqual(named(`got ${name}: abc1234, no more`), `got ${name}: <redacted>, no more`)
    assert.strictEqual(named(`{"${name}":"abc1234"}`), `{"${name}":"<redacted>"}`)
    const encoded = encodeURIComponent(`?${name}=`)
    assert.strictEqual(named(`next=${encoded}abc1234`), `next=${encoded}<redacted>`)
    const reason = new InvalidRequest({ status: 422, detail: "no", fields: { [name]: ["abc1234"] } })
    assert.deepStrictEqual(
      redactedReason(reason, named),
      new InvalidRequest({ status: 422, detail: "no", fields: { [name]: ["<redacted>"] } })
    )
  })

  it("is not masked in a word, where a mask would reveal it", () => {
    for (const text of [
      "the service is not there",
      "apikey is wrong",
      "apikey=the",
      "Bearer the token",
      "no t no way",
      '{"status":"t"}',
      "token trouble"
    ]) {
      assert.strictEqual(redact(text), text)
    }
  })
})

describe("a reason that leaves an attempt", () => {
  const redact = redactor(oddCredentials)

  it("has every text of its fields masked and is otherwise the same", () => {
    const reason = new InvalidRequest({
      status: null,
      detail: `no ${apiKey}`,
      fields: { [apiKey]: ["a", accessToken] }
    })
    const masked = redactedReason(reason, redact)
    assert.instanceOf(masked, InvalidRequest)
    assert.deepStrictEqual(
      masked,
      new InvalidRequest({ status: null, detail: "no <redacted>", fields: { "<redacted>": ["a", "<redacted>"] } })
    )
    assert.strictEqual(masked.message, "The request cannot be sent: <redacted>: a, <redacted>.")
    assert.strictEqual(masked.hint, reason.hint)
    assert.match(masked.stack!, /^InvalidRequest: The request cannot be sent: <redacted>: a, <redacted>\./)
  })

  it("has a part of a secret masked in a field with the name of a credential", () => {
    const fields = { apikey: ["key/wi… is wrong"], "x-api-key": ["key/wi…"], plan: ["key/wi"], token: ["is missing"] }
    assert.deepStrictEqual(
      redactedReason(new InvalidRequest({ status: 422, detail: "no", fields }), redact),
      new InvalidRequest({
        status: 422,
        detail: "no",
        fields: { ...fields, apikey: ["<redacted>… is wrong"], "x-api-key": ["<redacted>…"] }
      })
    )
  })

  it("keeps Berth's own words, which may contain a secret by chance", () => {
    const unlucky = redactor({ apiKey: Redacted.make("deadline"), accessToken: Redacted.make("a number") })
    for (const reason of [
      new Unreachable({ sent: "no", detail: "nothing" }),
      new TimedOut({ limit: "deadline", afterMillis: 1, sent: "maybe" }),
      new UnexpectedResponse({ status: 200, path: "data.id", expected: "a number", excerpt: "7" })
    ]) {
      assert.deepStrictEqual(redactedReason(reason, unlucky), reason)
    }
  })

  it("keeps its class", () => {
    for (const reason of [
      new Unauthorized({ detail: apiKey }),
      new NodeNotFound({ nodeId: NodeId.make(7) }),
      new RateLimited({ retryAfterMillis: null }),
      new ServiceFault({ status: 500, detail: accessToken, retryAfterMillis: 1000 }),
      new Unreachable({ sent: "maybe", detail: apiKey }),
      new UnexpectedResponse({ status: 200, path: `data.${apiKey}`, expected: "a text", excerpt: accessToken })
    ]) {
      const masked = redactedReason(reason, redact)
      assert.strictEqual(masked.constructor, reason.constructor)
      assert.deepStrictEqual(seenOf(inspect(masked), secrets), [])
      // Strings without a secret do not change.
      const once = JSON.stringify(masked)
      assert.strictEqual(JSON.stringify(redactedReason(masked, redact)), once)
      assert.strictEqual(
        once,
        JSON.stringify(reason).replaceAll(apiKey, "<redacted>").replaceAll(accessToken, "<redacted>")
      )
    }
  })
})

describe("a secret of other letters", () => {
  const secret = "ключ-é-🔑-secret"
  const redact = redactor({ apiKey: Redacted.make("key-0001"), accessToken: Redacted.make("token-0002") }, [secret])

  it.each([
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64"),
    Buffer.from(`me:${secret}`).toString("base64url"),
    Buffer.from(secret).toString("hex"),
    Array.from({ length: secret.length }, (_, at) => `\\u${secret.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      ""
    )
  ])("is masked as %s", (spelled) => {
    const masked = redact(`before ${spelled} after`)
    assert.match(masked, /^before .{0,8}<redacted>.{0,4} after$/)
    assert.notInclude(masked, spelled)
  })
})
