import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"
import { certificate, otherCertificate } from "@berthkit/testing/certificate"
import { type SmtpOptions, SmtpService } from "@berthkit/testing/SmtpService"
import { spellingsOf } from "@berthkit/testing/spellings"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { makeMailSender } from "../../../src/deliver/mail/sendMail.ts"
import type { MailOptions } from "../../../src/deliver/SinkOptions.ts"
import type { Resolve } from "../../../src/deliver/webhook/addressCheck.ts"

const eventOf = (name: string) =>
  JSON.stringify({
    id: "id-1",
    type: "berth.node.status_changed",
    source: "/accounts/eu",
    subject: "nodes/7",
    time: "2026-11-30T10:00:00.000Z",
    data: { from: "running", to: "power-off", before: { name }, after: { name } }
  })
const json = eventOf("web")

const user = "watch@example.com"
const password = "correct horse battery"
const login = { user: Redacted.make(user), password: Redacted.make(password) }

const optionsFor = (port: number, over: Partial<MailOptions> = {}): MailOptions => ({
  _tag: "Mail",
  host: "127.0.0.1",
  port,
  tls: "none",
  login: null,
  from: { name: "Berth", address: "watch@example.com" },
  to: [{ name: "", address: "ops@example.com" }],
  isPrivateAllowed: true,
  subject: null,
  template: null,
  ...over
})

const sender = (port: number, over: Partial<MailOptions> = {}, resolve?: Resolve, ca = certificate) =>
  makeMailSender(optionsFor(port, over), { ca, ...(resolve && { resolve }) })

const serve = (options: SmtpOptions = { tls: "none" }) => SmtpService.start(options)

const headersOf = (message: string) =>
  message
    .split("\r\n\r\n")[0]!
    .replaceAll(/\r\n\s+/g, " ")
    .split("\r\n")

/**
 * A server whose every answer the test writes. `answer` gets each command of the client, first `connect` for the connection. The
 * lines of the message are no commands, except the dot at its end.
 */
const scripted = Effect.fnUntraced(function* (answer: (line: string, socket: Socket) => string | null) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {}).on("close", () => sockets.delete(socket))
    const say = (line: string) => {
      const text = answer(line, socket)
      if (text !== null && !socket.destroyed) socket.write(`${text}\r\n`)
    }
    let rest = ""
    let isMessage = false
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\r\n")
      rest = lines.pop()!
      for (const line of lines) {
        if (isMessage && line !== ".") continue
        isMessage = line === "DATA"
        say(line)
      }
    })
    say("connect")
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
  )
  return (server.address() as AddressInfo).port
})

/** The usual answers, up to the message. */
const usual = (line: string): string | null => {
  if (line === "connect") return "220 mail.test ESMTP"
  if (line.startsWith("EHLO")) return "250 mail.test"
  if (/^(MAIL|RCPT)/.test(line)) return "250 ok"
  if (line === "DATA") return "354 go on"
  if (line === ".") return "250 taken"
  return line === "QUIT" ? "221 bye" : null
}

describe("a mail", () => {
  it.effect("says what happened, to all addresses, with an id that is the same at every attempt", () =>
    Effect.gen(function* () {
      const service = yield* serve()
      const to = [
        { name: "Ops", address: "ops@example.com" },
        { name: "", address: "night@example.com" }
      ]
      yield* TestClock.setTime(Date.parse("2026-11-30T10:00:07Z"))
      const send = yield* sender(service.port, { to })
      expect(yield* send("id-1", json)).toEqual({ _tag: "Delivered" })
      yield* send("id-1", json)
      yield* (yield* sender(service.port))("id-2", json)
      const [mail, again, other] = service.taken
      expect(mail).toMatchObject({ from: "watch@example.com", to: ["ops@example.com", "night@example.com"] })
      const headers = headersOf(mail!.message)
      expect(headers).toEqual(
        expect.arrayContaining([
          "From: Berth <watch@example.com>",
          "To: Ops <ops@example.com>, night@example.com",
          "Subject: [eu] web (7) is power-off (was running).",
          "Message-ID: <id-1@example.com>",
          "Date: Mon, 30 Nov 2026 10:00:07 +0000",
          "Auto-Submitted: auto-generated"
        ])
      )
      expect(mail!.message).toContain(
        "[eu] web (7) is power-off (was running).\r\n\r\nType: berth.node.status_changed\r\n"
      )
      expect(again!.message).toBe(mail!.message)
      expect(headersOf(other!.message)).toContain("Message-ID: <id-2@example.com>")
    })
  )

  it.effect.each([
    "a\r\nBcc: eve@example.com",
    "b\nBcc: eve@example.com\n\n.\nRCPT TO:<eve@example.com>",
    "c\u2028d\u0000"
  ])("gets no header and no command from a name: %j", (name) =>
    Effect.gen(function* () {
      const service = yield* serve()
      expect(yield* (yield* sender(service.port))("id-1", eventOf(name))).toEqual({ _tag: "Delivered" })
      const [mail] = service.taken
      expect(service.taken).toHaveLength(1)
      expect(mail!.to).toEqual(["ops@example.com"])
      const names = headersOf(mail!.message).map((header) => header.split(":")[0]!.toLowerCase())
      expect(names).not.toContain("bcc")
      expect(names.toSorted()).toEqual(names.toSorted().filter((each, at, all) => each !== all[at - 1]))
    })
  )

  it.effect("logs in, and encrypts before that", () =>
    Effect.gen(function* () {
      for (const tls of ["starttls", "implicit"] as const) {
        const service = yield* serve({ tls, login: { user, password } })
        expect(yield* (yield* sender(service.port, { tls, login }))("id-1", json)).toEqual({ _tag: "Delivered" })
        expect(service.taken).toMatchObject([{ user, isEncrypted: true }])
      }
    })
  )

  it.effect("is not sent in the clear to a server that offers no STARTTLS, and the password neither", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const port = yield* scripted((line) => {
        lines.push(line)
        return line.startsWith("EHLO")
          ? "250-mail.test\r\n250 AUTH PLAIN LOGIN"
          : line === "STARTTLS"
            ? "502 what?"
            : usual(line)
      })
      const outcome = yield* (yield* sender(port, { tls: "starttls", login }))("id-1", json)
      expect(outcome).toMatchObject({ kind: "unavailable", reason: "the server offers no STARTTLS" })
      expect(lines.filter((line) => !/^(connect|EHLO|STARTTLS|QUIT)/.test(line))).toEqual([])
    })
  )

  it.effect("is not sent to a server with a certificate of somebody else", () =>
    Effect.gen(function* () {
      for (const tls of ["starttls", "implicit"] as const) {
        const service = yield* serve({ tls, login: { user, password } })
        const send = yield* sender(service.port, { tls, login }, undefined, otherCertificate)
        expect(yield* send("id-1", json)).toMatchObject({
          kind: "unavailable",
          reason: "the server is unreachable (DEPTH_ZERO_SELF_SIGNED_CERT)"
        })
        expect(service.taken).toEqual([])
      }
    })
  )

  it.effect.each([
    [421, "unavailable", "unavailable"],
    [450, "unavailable", "unavailable"],
    [452, "unavailable", "unavailable"],
    [550, "undeliverable", "refused"],
    [552, "undeliverable", "refused"],
    [554, "undeliverable", "refused"]
  ] as const)(
    "whose address is answered with %i is %s, and whose message %s, with the server's words",
    ([code, ofAddress, ofMessage]) =>
      Effect.gen(function* () {
        const service = yield* serve()
        const send = yield* sender(service.port)
        service.refuseAddress = () => [code, "5.1.1 not here"]
        expect(yield* send("id-1", json)).toMatchObject({
          kind: ofAddress,
          // The server ends the whole session with 421, so this answer is not about the address.
          reason: `the server ${code === 421 ? "answered" : "refuses ops@example.com:"} ${code} 5.1.1 not here`
        })
        service.refuseAddress = () => null
        service.refuseMessage = () => [code, "5.1.1 not here"]
        expect(yield* send("id-1", json)).toMatchObject({
          kind: ofMessage,
          reason: `the server answered ${code} 5.1.1 not here`
        })
      })
  )

  it.effect("that one address refuses goes to the others once, and to this address until it accepts it", () =>
    Effect.gen(function* () {
      const service = yield* serve()
      const to = ["ops", "full", "gone"].map((name) => ({ name: "", address: `${name}@example.com` }))
      const send = yield* sender(service.port, { to })
      service.refuseAddress = (address) =>
        address === "full@example.com" ? [452, "mailbox full"] : address === "gone@example.com" ? [550, "gone"] : null
      for (const _ of [1, 2]) {
        // While one address may accept the mail later, the event is tried again.
        const reason = "the server refuses full@example.com: 452 mailbox full"
        expect(yield* send("id-1", json)).toMatchObject({ kind: "refused", reason })
      }
      service.refuseAddress = (address) => (address === "gone@example.com" ? [550, "gone"] : null)
      for (const _ of [1, 2]) {
        const reason = "the server refuses gone@example.com: 550 gone"
        expect(yield* send("id-1", json)).toMatchObject({ kind: "undeliverable", reason })
      }
      service.refuseAddress = () => null
      expect(yield* send("id-1", json)).toEqual({ _tag: "Delivered" })
      expect(service.taken.map(({ to }) => to)).toEqual([
        ["ops@example.com"],
        ["full@example.com"],
        ["gone@example.com"]
      ])
    })
  )

  it.effect("fails temporarily if at least one of its addresses is refused temporarily", () =>
    Effect.gen(function* () {
      const service = yield* serve()
      const to = ["gone", "grey"].map((name) => ({ name: "", address: `${name}@example.com` }))
      service.refuseAddress = (address) => (address === "gone@example.com" ? [550, "gone"] : [450, "later"])
      const outcome = yield* (yield* sender(service.port, { to }))("id-1", json)
      expect(outcome).toMatchObject({ kind: "unavailable", reason: "the server refuses grey@example.com: 450 later" })
    })
  )

  it.effect("repeats no spelling of the password that the server repeats", () =>
    Effect.gen(function* () {
      const plain = Buffer.from(`\0${user}\0${password}`).toString("base64")
      for (const said of [...Object.values(spellingsOf(password)), plain]) {
        const service = yield* serve({ tls: "implicit", login: { user, password: "another one" } })
        service.refuseLogin = () => [535, `no: ${said.replaceAll(/\s/g, " ")}`]
        const outcome = yield* (yield* sender(service.port, { tls: "implicit", login }))("id-1", json)
        expect(outcome).toMatchObject({ kind: "refused", reason: expect.stringContaining("<redacted>") })
        const shown = JSON.stringify(outcome)
        for (const secret of [password, plain, btoa(password), encodeURIComponent(password)]) {
          expect(shown).not.toContain(secret)
        }
      }
    })
  )

  it.effect("shows what a server says on one line, shortened", () =>
    Effect.gen(function* () {
      const port = yield* scripted((line) =>
        line === "DATA" ? `550-a\u001b[31m\r\n550 ${"b".repeat(1000)}` : usual(line)
      )
      const outcome = yield* (yield* sender(port))("id-1", json)
      if (outcome._tag !== "Failed") throw new Error("it was delivered")
      expect(outcome.reason).toMatch(/^the server answered 550-a \[31m 550 b+…$/)
      expect(outcome.reason.length).toBeLessThan(330)
    })
  )

  it.effect.each(["connect", "EHLO", "MAIL", "DATA", "."])("fails when the server cuts the connection after %j", (at) =>
    Effect.gen(function* () {
      const port = yield* scripted((line, socket) => {
        if (!line.startsWith(at)) return usual(line)
        socket.destroy()
        return null
      })
      const outcome = yield* (yield* sender(port))("id-1", json)
      expect(outcome).toMatchObject({
        kind: "unavailable",
        reason: expect.stringMatching(/^the server is unreachable \(E/)
      })
    })
  )

  it.effect("is refused if it is larger than the server allows", () =>
    Effect.gen(function* () {
      const port = yield* scripted((line) => (line.startsWith("EHLO") ? "250-mail.test\r\n250 SIZE 100" : usual(line)))
      const outcome = yield* (yield* sender(port))("id-1", json)
      expect(outcome).toMatchObject({ kind: "refused", reason: "the mail is larger than the server allows" })
    })
  )

  it.effect("fails without a listener", () =>
    Effect.gen(function* () {
      const outcome = yield* (yield* sender(1))("id-1", json)
      expect(outcome).toMatchObject({ kind: "unavailable", reason: "the server is unreachable (ECONNREFUSED)" })
    })
  )

  it.effect.each(["connect", "EHLO", "RCPT", "."])("gives up on a server that says nothing for 60 s after %j", (at) =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const port = yield* scripted((line) => {
        if (!line.startsWith(at)) return usual(line)
        Deferred.doneUnsafe(arrived, Effect.void)
        return null
      })
      const sending = yield* Effect.forkChild((yield* sender(port))("id-1", json))
      yield* Deferred.await(arrived)
      yield* TestClock.adjust("60 seconds")
      expect(yield* Fiber.join(sending)).toEqual({
        _tag: "Failed",
        kind: "unavailable",
        reason: "no answer within 60 s",
        retryAfterMillis: null
      })
    })
  )

  it.effect("is delivered although the server never closes the connection", () =>
    Effect.gen(function* () {
      const left = yield* Deferred.make<void>()
      const port = yield* scripted((line) => {
        if (line !== "QUIT") return usual(line)
        Deferred.doneUnsafe(left, Effect.void)
        return null
      })
      const sending = yield* Effect.forkChild((yield* sender(port))("id-1", json))
      yield* Deferred.await(left)
      yield* TestClock.adjust("2 seconds")
      expect(yield* Fiber.join(sending)).toEqual({ _tag: "Delivered" })
    })
  )

  it.effect("is taken by a slow server", () =>
    Effect.gen(function* () {
      const port = yield* scripted((line, socket) => {
        const text = usual(line)
        if (text === null) return null
        // Each letter is a packet of its own.
        for (const letter of `${text}\r\n`) socket.write(letter)
        return null
      })
      expect(yield* (yield* sender(port))("id-1", json)).toEqual({ _tag: "Delivered" })
    })
  )

  it.effect("fails when an answer has no end", () =>
    Effect.gen(function* () {
      const port = yield* scripted((line, socket) => {
        if (!line.startsWith("EHLO")) return usual(line)
        const more = () => {
          if (!socket.destroyed) socket.write("250-x".repeat(1000), more)
        }
        more()
        return null
      })
      expect(yield* (yield* sender(port))("id-1", json)).toMatchObject({ kind: "unavailable" })
    })
  )

  it.effect("uses at most two connections at once", () =>
    Effect.gen(function* () {
      let open = 0
      let most = 0
      const port = yield* scripted((line) => {
        if (line === "connect") most = Math.max(most, ++open)
        if (line === "QUIT") open--
        return usual(line)
      })
      const send = yield* sender(port)
      const ids = Array.from({ length: 12 }, (_, index) => `id-${index}`)
      const outcomes = yield* Effect.forEach(ids, (id) => send(id, json), { concurrency: "unbounded" })
      expect(new Set(outcomes.map(({ _tag }) => _tag))).toEqual(new Set(["Delivered"]))
      expect(most).toBe(2)
    })
  )

  it.effect("goes to no private address, written out or behind a name", () =>
    Effect.gen(function* () {
      const service = yield* serve()
      const refused = { kind: "refused", reason: "the mail server has a private address" }
      const literal = yield* sender(service.port, { isPrivateAllowed: false })
      expect(yield* literal("id-1", json)).toMatchObject(refused)
      const resolve: Resolve = (_, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }])
      const named = yield* sender(service.port, { host: "mail.example.com", isPrivateAllowed: false }, resolve)
      expect(yield* named("id-1", json)).toMatchObject(refused)
      expect(service.taken).toEqual([])
    })
  )
})
