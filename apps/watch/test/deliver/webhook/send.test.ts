import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"
import { HttpService } from "@berthkit/testing/HttpService"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Format, Header, WebhookOptions } from "../../../src/deliver/SinkOptions.ts"
import type { Resolve } from "../../../src/deliver/webhook/addressCheck.ts"
import { makeSender, signedHeaders, signingKey } from "../../../src/deliver/webhook/send.ts"

const json = JSON.stringify({
  id: "id-1",
  type: "berth.node.status_changed",
  source: "/accounts/eu",
  subject: "nodes/7",
  data: { from: "running", to: "power-off", before: { name: "web <1>" }, after: { name: "web <1>" } }
})

const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`

/** `standardwebhooks` checks against the wall clock. */
const wallMillis = Date.now()

interface Received {
  readonly headers: IncomingMessage["headers"]
  readonly path: string | undefined
  readonly body: string
}

/** A receiver on this machine that answers as the test tells it to; also returns what it received. */
const receiver = Effect.fnUntraced(function* (answer: (response: ServerResponse, path: string) => void) {
  const received: Array<Received> = []
  const service = yield* HttpService.start((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      received.push({ headers: request.headers, path: request.url, body })
      answer(response, request.url ?? "")
    })
  })
  return { url: `${service.url}/hook`, received }
})

const sender = (
  url: string,
  {
    format = "cloudevents",
    headers = [],
    isPrivateAllowed = true,
    key = null,
    template = null
  }: {
    format?: Format
    headers?: ReadonlyArray<Header>
    isPrivateAllowed?: boolean
    key?: Redacted.Redacted | null
    template?: WebhookOptions["template"]
  } = {},
  resolve?: Resolve,
  environment: NodeJS.ProcessEnv = {}
) =>
  makeSender(
    {
      _tag: "Webhook",
      url: Redacted.make(new URL(url)),
      secrets: [Redacted.make(signingKey(secret)!)],
      isPrivateAllowed,
      format,
      key,
      headers,
      template
    },
    { ...(resolve && { resolve }), environment }
  )

const statusReceiver = (status: number, headers: Record<string, string> = {}) =>
  receiver((response) => response.writeHead(status, headers).end("answer"))

describe("a webhook", () => {
  it.effect("posts the event as it is, signed, with its id", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(204)
      yield* TestClock.setTime(wallMillis)
      const send = yield* sender(url)
      expect(yield* send("id-1", json)).toEqual({ _tag: "Delivered" })
      expect(received).toEqual([{ body: json, path: "/hook", headers: expect.anything() }])
      const { headers } = received[0]!
      expect(headers).toMatchObject({ "content-type": "application/cloudevents+json", "webhook-id": "id-1" })
      expect(new Webhook(secret).verify(json, headers as Record<string, string>)).toEqual(JSON.parse(json))
    })
  )

  it.effect.each([
    [200, "Delivered"],
    [301, "refused"],
    [400, "refused"],
    [408, "unavailable"],
    [410, "gone"],
    [429, "unavailable"],
    [500, "unavailable"],
    [503, "unavailable"]
  ] as const)("that is answered with %i is %s", ([status, expected]) =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(status, { location: "/elsewhere" })
      const outcome = yield* (yield* sender(url))("id-1", json)
      expect(outcome._tag === "Delivered" ? "Delivered" : outcome.kind).toBe(expected)
      expect(received.map(({ path }) => path)).toEqual(["/hook"])
    })
  )

  it.effect("reads Retry-After as seconds and as a date", () =>
    Effect.gen(function* () {
      const seconds = yield* statusReceiver(429, { "retry-after": "17" })
      expect(yield* (yield* sender(seconds.url))("id-1", json)).toMatchObject({ retryAfterMillis: 17_000 })
      const date = yield* statusReceiver(503, { "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" })
      yield* TestClock.setTime(20_000)
      expect(yield* (yield* sender(date.url))("id-1", json)).toMatchObject({ retryAfterMillis: 40_000 })
    })
  )

  it.effect("gives up on a receiver that does not answer for 20 s", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const { url } = yield* receiver(() => Deferred.doneUnsafe(arrived, Effect.void))
      const sending = yield* Effect.forkChild((yield* sender(url))("id-1", json))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(sending)).toEqual({
        _tag: "Failed",
        kind: "unavailable",
        reason: "no answer within 20 s",
        retryAfterMillis: null
      })
    })
  )

  it.effect("is not held up by an answer without end", () =>
    Effect.gen(function* () {
      const { url } = yield* receiver((response) => response.writeHead(200).write("x"))
      expect(yield* (yield* sender(url))("id-1", json)).toEqual({ _tag: "Delivered" })
    })
  )

  it.effect("keeps its connection for the next event, whether or not the answer has a body", () =>
    Effect.gen(function* () {
      const sockets = new Set<unknown>()
      let answered = 0
      const { url } = yield* receiver((response) => {
        sockets.add(response.socket)
        if (answered++ % 2 === 0) response.writeHead(204).end()
        else response.writeHead(200).end("taken")
      })
      const send = yield* sender(url)
      for (let sent = 1; sent <= 10; sent++) yield* send(`id-${sent}`, json)
      // An event does not wait for the body of the answer to the event before it.
      expect(sockets.size).toBeLessThanOrEqual(2)
    })
  )

  it.effect("sends the headers of its config too, which replace its own but not the signature", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(204)
      const headers = [
        ["authorization", Redacted.make("Bearer of-a-test")],
        ["title", Redacted.make("Nodes")],
        ["user-agent", Redacted.make("watcher")]
      ] as const
      const send = yield* sender(url, { format: "ntfy", headers })
      expect(yield* send("id-1", json)).toEqual({ _tag: "Delivered" })
      expect(received[0]!.headers).toMatchObject({
        authorization: "Bearer of-a-test",
        title: "Nodes",
        "user-agent": "watcher",
        "webhook-id": "id-1"
      })
    })
  )

  it.effect("fails when the receiver cannot be reached", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* sender("http://127.0.0.1:1/"))("id-1", json)
      expect(outcome).toMatchObject({ kind: "unavailable", reason: "the receiver is unreachable (ECONNREFUSED)" })
    })
  )

  it.effect("connects to no private address, written out or behind a name", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(200)
      const refused = { kind: "refused", reason: "the receiver has a private address" }
      const literal = yield* sender(url, { isPrivateAllowed: false })
      expect(yield* literal("id-1", json)).toMatchObject(refused)
      const named = url.replace("127.0.0.1", "hooks.example.com")
      // A resolver that first returns a public address and then, for the connection, one of this machine. The checked answer must be the
      // one that is used.
      const answers: Array<string> = []
      const flipping: Resolve = (_, callback) => {
        const address = answers.length === 0 ? "127.0.0.1" : "93.184.216.34"
        answers.push(address)
        callback(null, [{ address, family: 4 }])
      }
      const flips = yield* sender(named, { isPrivateAllowed: false }, flipping)
      expect(yield* flips("id-1", json)).toMatchObject(refused)
      expect([answers.length, received]).toEqual([1, []])
      // If private addresses are allowed, the same name is accepted, and the connection goes to the resolved address.
      const allowed = yield* sender(url.replace("127.0.0.1", "localhost"))
      expect(yield* allowed("id-1", json)).toEqual({ _tag: "Delivered" })
    })
  )

  it.effect.each([
    ["slack", { text: "[eu] web &lt;1&gt; (7) is power-off (was running)." }],
    ["discord", { content: "\\[eu] web \\<1> (7) is power-off (was running).", allowed_mentions: { parse: [] } }]
  ] as const)("posts a sentence for people to %s", ([format, message]) =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(200)
      yield* (yield* sender(url, { format }))("id-1", json)
      expect(JSON.parse(received[0]!.body)).toEqual(message)
    })
  )

  it.effect("posts a card without Markdown to teams", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(202)
      yield* (yield* sender(url, { format: "teams" }))("id-1", json)
      const { attachments, type } = JSON.parse(received[0]!.body)
      expect(type).toBe("message")
      expect(attachments).toHaveLength(1)
      const [{ content, contentType }] = attachments
      expect(contentType).toBe("application/vnd.microsoft.card.adaptive")
      expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.4" })
      const text = "[eu] web <1> (7) is power-off (was running)."
      expect(content.body).toEqual([{ type: "RichTextBlock", inlines: [{ type: "TextRun", text }] }])
    })
  )

  const event = (type: string, data: object, id = type, subject: string | undefined = "nodes/7") =>
    JSON.stringify({ id, type, source: "/accounts/eu", subject, time: "2026-11-30T10:00:00.000Z", data })
  const stuck = { status: "created", since: "2026-11-30T09:00:00.000Z", after: { name: "web" } }
  const trouble = { trouble: "sink-down", about: { kind: "sink", name: "chat" } }
  /** Events that end what an earlier one began. */
  const pairs = [
    ["a stuck node", event("berth.node.stuck", stuck), event("berth.node.unstuck", stuck)],
    [
      "a stuck node that somebody deletes",
      event("berth.node.stuck", stuck),
      event("berth.node.deleted", { before: stuck.after, after: null, cause: "requested" })
    ],
    [
      "a degraded account",
      event("berth.watch.degraded", { trouble: "sweep-failed", message: "The list cannot be read." }),
      event("berth.watch.recovered", { trouble: "sweep-failed" })
    ],
    [
      "a trouble",
      event("berth.watch.trouble", { ...trouble, severity: "critical", message: "It is down.", next: "Start it." }),
      event("berth.watch.trouble_ended", trouble)
    ]
  ] as const
  const key = Redacted.make("R0UT1NG")

  it.effect.each(pairs)("opens and resolves %s at pagerduty by one key", ([, begin, end]) =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(202)
      const send = yield* sender(url, { format: "pagerduty", key })
      yield* send("id-1", begin)
      yield* send("id-2", end)
      const [opened, resolved] = received.map(({ body }) => JSON.parse(body))
      expect(opened).toMatchObject({
        routing_key: "R0UT1NG",
        event_action: "trigger",
        payload: {
          summary: expect.stringMatching(/^\[eu\] /),
          source: "eu",
          severity: expect.stringMatching(/^(critical|warning)$/),
          timestamp: "2026-11-30T10:00:00.000Z"
        }
      })
      expect(resolved).toEqual({ routing_key: "R0UT1NG", event_action: "resolve", dedup_key: opened.dedup_key })
    })
  )

  it.effect.each(pairs)("opens and closes %s at opsgenie by one alias", ([, begin, end]) =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(202)
      const send = yield* sender(url, { format: "opsgenie", key })
      yield* send("id-1", begin)
      yield* send("id-2", end)
      const [opened, closed] = received
      expect(opened).toMatchObject({ path: "/hook", headers: { authorization: "GenieKey R0UT1NG" } })
      const { alias, message, priority } = JSON.parse(opened!.body)
      expect([message.startsWith("[eu] "), message.length <= 130]).toEqual([true, true])
      expect(priority).toMatch(/^P[13]$/)
      expect(closed).toMatchObject({
        path: `/hook/${alias}/close?identifierType=alias`,
        headers: { authorization: "GenieKey R0UT1NG" }
      })
    })
  )

  it.effect("opens an alert of its own for each unexpected deletion", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(202)
      const send = yield* sender(url, { format: "pagerduty", key })
      const gone = { before: { name: "n".repeat(3000) }, after: null, cause: "unknown" }
      for (const id of ["a", "b", "a"]) yield* send(id, event("berth.node.deleted", gone, id))
      const sent = received.map(({ body }) => JSON.parse(body))
      expect(sent.map(({ event_action }) => event_action)).toEqual(["trigger", "trigger", "trigger"])
      expect(sent[0].dedup_key).toBe(sent[2].dedup_key)
      expect(sent[0].dedup_key).not.toBe(sent[1].dedup_key)
      expect(sent[0].payload.summary).toHaveLength(1024)
    })
  )

  it.effect("names the silence that held what a chat gets late", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(200)
      const event = JSON.parse(json)
      const silenced = [{ id: "0a1b2c", reason: "new <disks>" }]
      const late = JSON.stringify({ ...event, data: { ...event.data, silenced } })
      yield* (yield* sender(url, { format: "slack" }))("id-1", late)
      expect(JSON.parse(received[0]!.body)).toEqual({
        text: "[eu] web &lt;1&gt; (7) is power-off (was running). (Held by a silence: new &lt;disks&gt;.)"
      })
    })
  )

  it.effect("posts a sentence with a title to ntfy", () =>
    Effect.gen(function* () {
      const { received, url } = yield* statusReceiver(200)
      yield* (yield* sender(url, { format: "ntfy" }))("id-1", json)
      expect(received[0]).toMatchObject({
        body: "[eu] web <1> (7) is power-off (was running).",
        headers: { title: "berth.node.status_changed" }
      })
    })
  )
})

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

describe("the proxy of the environment", () => {
  it.effect.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])("is what sends a webhook: %s", (name) =>
    Effect.gen(function* () {
      const proxy = yield* statusReceiver(204)
      const { port } = new URL(proxy.url)
      // The proxy may be in a private network even if the receiver must not be.
      const send = yield* sender("http://hook.test/a", { isPrivateAllowed: false }, undefined, {
        [name]: `user:pass@localhost:${port}`
      })
      expect(yield* send("id-1", json)).toEqual({ _tag: "Delivered" })
      expect(proxy.received).toMatchObject([
        { path: "http://hook.test/a", headers: { "proxy-authorization": `Basic ${btoa("user:pass")}` } }
      ])
    })
  )

  it.effect("gets a tunnel to a receiver with TLS, and its password is in no outcome", () =>
    Effect.gen(function* () {
      const connects: Array<string | undefined> = []
      const proxy = createServer().on("connect", ({ url }, socket) => {
        connects.push(url)
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(proxy.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => proxy.close())
      )
      const { port } = proxy.address() as AddressInfo
      const send = yield* sender("https://hook.test/a", {}, undefined, { HTTPS_PROXY: `user:pass@127.0.0.1:${port}` })
      const outcome = yield* send("id-1", json)
      expect(outcome).toMatchObject({ _tag: "Failed", kind: "unavailable" })
      expect(JSON.stringify(outcome)).not.toMatch(/pass|127\.0/)
      expect(connects).toEqual(["hook.test:443"])
    })
  )

  it.effect.each(["NO_PROXY", "no_proxy"])("is not asked for what %s names, nor for this machine", (name) =>
    Effect.gen(function* () {
      const proxy = yield* statusReceiver(204)
      const direct = yield* statusReceiver(204)
      const { port } = new URL(direct.url)
      const environment = { HTTP_PROXY: proxy.url, [name]: "hook.test" }
      yield* (yield* sender(direct.url, {}, undefined, environment))("id-1", json)
      const asked: Array<string> = []
      const resolve: Resolve = (name, callback) => {
        asked.push(name)
        callback(null, [{ address: "127.0.0.1", family: 4 }])
      }
      const send = yield* sender(`http://hook.test:${port}/b`, { isPrivateAllowed: false }, resolve, environment)
      expect(yield* send("id-2", json)).toMatchObject({ reason: "the receiver has a private address" })
      expect(asked).toEqual(["hook.test"])
      expect(direct.received.length).toBe(1)
      expect(proxy.received).toEqual([])
    })
  )

  it.effect("that is none fails every delivery, without its value", () =>
    Effect.gen(function* () {
      const send = yield* sender("http://hook.test/a", {}, undefined, { HTTP_PROXY: "socks5://user:pass@proxy.test" })
      expect(yield* send("id-1", json)).toMatchObject({
        kind: "unavailable",
        reason: "HTTP_PROXY is not the address of an HTTP proxy"
      })
    })
  )
})
