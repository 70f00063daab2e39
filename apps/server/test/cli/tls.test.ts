import { X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berth/testing/Program"
import { startStopwatch } from "@berth/testing/stopwatch"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { selfMadeCertificate } from "../../src/transport/selfMadeCertificate.ts"
import { prefix } from "../http/service.ts"
import { run, serve } from "./berthServer.ts"

interface Outcome {
  readonly status: number | undefined
  readonly text: string
  readonly failure: string | undefined
  readonly isReused: boolean
}

interface Options {
  readonly method?: string
  readonly path?: string
  readonly body?: unknown
  /** What the client trusts. */
  readonly ca?: string | undefined
  readonly agent?: Agent
  /** The name it calls the server by. */
  readonly host?: string
}

/** One call, and how it ended, whatever the bytes did. */
const ask = (
  url: string,
  { agent, body, ca, host, method = "GET", path = `${prefix}/nodes/?apikey=berth-key` }: Options
) =>
  Effect.promise<Outcome>(
    () =>
      new Promise((resolve) => {
        const target = new URL(url)
        if (host !== undefined) target.hostname = host
        const headers = { authorization: "Bearer berth-token", "content-type": "application/json" }
        const sent = request(new URL(path, target), { method, headers, ca, agent: agent ?? false })
        let [status, text]: [number | undefined, string] = [undefined, ""]
        const finish = (failure?: string) => resolve({ status, text, failure, isReused: sent.reusedSocket })
        const fail = ({ code, message, syscall }: NodeJS.ErrnoException) =>
          finish([syscall, code ?? message].join(" ").trim())
        sent.on("error", fail)
        sent.on("response", (reply) => {
          status = reply.statusCode
          reply.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk))
          reply.on("error", fail).on("end", () => finish())
        })
        sent.end(body === undefined ? undefined : JSON.stringify(body))
      })
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-tls-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe.concurrent("berth-server --tls", () => {
  it.live("is called by a client that trusts the certificate of the ready line, and by no other", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--tls", "--scenario", "small"])
      expect(ready.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
      const { certificate: ca } = ready
      for (const host of ["127.0.0.1", "localhost"]) {
        const { status, text } = yield* ask(ready.url, { ca, host })
        expect([host, status, JSON.parse(text).data.length]).toEqual([host, 200, 5])
      }
      const strangers = selfMadeCertificate(["127.0.0.1"], yield* Clock.currentTimeMillis).authority
      expect((yield* ask(ready.url, {})).failure).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE")
      expect((yield* ask(ready.url, { ca: strangers })).failure).toMatch(/SIGNATURE|VERIFY/)
      expect((yield* ask(ready.url, { ca, path: "/_mock/health" })).status).toBe(200)
    })
  )

  it.live("is called by fetch where the certificate is a file that Node trusts", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--tls"])
      const file = join(yield* folder, "ca.pem")
      writeFileSync(file, ready.certificate!)
      const source = `const reply = await fetch("${ready.url}/_mock/health"); console.log(reply.status)`
      const env = { NODE_EXTRA_CA_CERTS: file }
      const program = yield* Program.start(() => Program.ofSource(source, { cwd: tmpdir(), env }))
      expect(yield* Effect.promise(() => program.succeeded())).toBe("200\n")
    })
  )

  it.live("keeps connections alive, and carries faults of the wire out on them", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", "--tls", "--scenario", "small"])
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1, ca: ready.certificate })),
        (agent) => Effect.sync(() => agent.destroy())
      )
      const { url } = ready
      const whole = yield* ask(url, { agent })
      expect([whole.status, (yield* ask(url, { agent })).isReused]).toEqual([200, true])
      const underFault = (fault: object) =>
        Effect.gen(function* () {
          const path = "/_mock/worlds/default/faults"
          expect((yield* ask(url, { agent, method: "PUT", path, body: [fault] })).status).toBe(200)
          return yield* ask(url, { agent })
        })
      for (const fault of ["reset-before-request", "reset-after-request"]) {
        expect([fault, yield* underFault({ fault })]).toMatchObject([
          fault,
          { status: undefined, failure: "read ECONNRESET" }
        ])
      }
      for (const [fault, ends] of [
        ["reset-mid-body", "read ECONNRESET"],
        ["truncated-body", "ECONNRESET"]
      ] as const) {
        const { failure, status, text } = yield* underFault({ fault })
        expect([fault, status, failure]).toEqual([fault, 200, ends])
        expect(whole.text.startsWith(text) && text.length > 0 && text.length < whole.text.length).toBe(true)
      }
      expect((yield* underFault({ fault: "garbage-bytes" })).failure).toMatch(/^HPE_/)
      for (const length of [9_000, 20_000, 40_000]) {
        expect([length, (yield* ask(url, { agent, path: `/${"a".repeat(length)}` })).status]).toEqual([length, 414])
      }
      const slow = yield* underFault({ fault: "slow-body", pause: "1 millis" })
      expect([slow.status, slow.text.length]).toEqual([200, whole.text.length])
      expect((yield* underFault({ fault: "status", status: 418 })).status).toBe(418)
    })
  )

  it.live("survives what is no TLS, and ends with 0 within 5 s whatever its connections do", () =>
    Effect.gen(function* () {
      const server = yield* serve(["--port", "0", "--tls", "--fault", "hang"])
      const { certificate: ca, url } = server.ready
      const { port } = new URL(url)
      const plain = (bytes: string) =>
        Effect.acquireRelease(
          Effect.promise(
            () =>
              new Promise<ReturnType<typeof connect>>((resolve) => {
                const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes, () => resolve(socket)))
                socket.on("error", () => undefined)
              })
          ),
          (socket) => Effect.sync(() => socket.destroy())
        )
      const refused = yield* plain("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      yield* Effect.promise(() => new Promise((resolve) => refused.once("close", resolve).resume()))
      yield* plain("")
      const agent = new Agent({ keepAlive: true, ca })
      expect((yield* ask(url, { agent, path: "/_mock/health" })).status).toBe(200)
      const hanging = yield* Effect.forkChild(ask(url, { ca }))
      const seen = Effect.map(
        ask(url, { ca, path: "/_mock/worlds/default/requests" }),
        ({ text }) => JSON.parse(text).count as number
      )
      while ((yield* seen) === 0) continue
      const stopwatch = startStopwatch()
      expect(yield* server.stop("SIGTERM")).toMatchObject({ code: 0, stderr: "" })
      stopwatch.expectBelow(5_000)
      hanging.interruptUnsafe()
      agent.destroy()
    })
  )

  it.live("takes a key and a certificate of one's own, and prints none then", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const own = selfMadeCertificate(["127.0.0.1"], yield* Clock.currentTimeMillis)
      const [key, cert] = [join(path, "key.pem"), join(path, "cert.pem")]
      writeFileSync(key, own.key)
      writeFileSync(cert, own.cert)
      const [text, anothers] = [join(path, "text.pem"), join(path, "another.pem")]
      writeFileSync(text, "no PEM")
      writeFileSync(anothers, selfMadeCertificate(["127.0.0.1"], yield* Clock.currentTimeMillis).cert)
      const { ready } = yield* serve(["--port", "0", "--tls-key", key, "--tls-cert", cert])
      expect(ready.certificate).toBeUndefined()
      expect((yield* ask(ready.url, { ca: own.authority })).status).toBe(200)
      for (const [args, sentence] of [
        [["--tls-key", key], "--tls-key and --tls-cert belong together"],
        [
          ["--tls-key", key, "--tls-cert", join(path, "none.pem")],
          `--tls-cert: cannot read ${join(path, "none.pem")}: there is no such file`
        ],
        [
          ["--tls-key", cert, "--tls-cert", cert],
          "--tls-key and --tls-cert: expected a private key and its certificate, both PEM"
        ],
        ...[
          ["/dev/null", "/dev/null"],
          [key, "/dev/null"],
          ["/dev/null", cert],
          [key, key],
          [text, text],
          [key, anothers]
        ].map(
          ([key, cert]) =>
            [
              ["--tls-key", key!, "--tls-cert", cert!],
              "--tls-key and --tls-cert: expected a private key and its certificate, both PEM"
            ] as const
        )
      ] as const) {
        expect(yield* run(args)).toEqual({ code: 2, stdout: "", stderr: `berth-server: ${sentence}\n` })
      }
    })
  )
})

describe("a certificate of the server's making", () => {
  const now = Date.UTC(2026, 4, 1)
  const names = [
    "localhost",
    "127.0.0.1",
    "::1",
    "fe80::1%eth0",
    "2001:db8::ff00:42:8329",
    "::ffff:1.2.3.4",
    "[fd00::1]",
    "[::1]",
    "mock",
    "bücher.test",
    "localhost"
  ]
  const made = selfMadeCertificate(names, now)
  const [server, authority] = [new X509Certificate(made.cert), new X509Certificate(made.authority)]

  it("is signed by the authority, which is nothing but that", () => {
    expect(server.verify(authority.publicKey)).toBe(true)
    expect(server.checkIssued(authority)).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect([server.ca, authority.ca]).toEqual([false, true])
    expect(server.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"])
    expect(selfMadeCertificate(names, now).authority).not.toBe(made.authority)
  })

  it("is for its names and addresses, and no others", () => {
    const addresses = ["127.0.0.1", "::1", "fe80::1", "2001:db8:0:0:0:ff00:42:8329", "::ffff:1.2.3.4", "fd00::1"]
    for (const address of addresses) {
      expect([address, server.checkIP(address) !== undefined]).toEqual([address, true])
    }
    for (const name of ["localhost", "mock", "xn--bcher-kva.test"]) expect(server.checkHost(name)).toBe(name)
    expect([server.checkIP("127.0.0.2"), server.checkHost("example.com")]).toEqual([undefined, undefined])
    expect(server.subjectAltName!.split(", ").length).toBe(9)
  })

  it("has a serial of its own, positive and of 16 bytes", () => {
    const others = Array.from({ length: 20 }, () => new X509Certificate(selfMadeCertificate(["mock"], now).cert))
    const serials = [...others, server, authority].map(({ serialNumber }) => serialNumber)
    expect(new Set(serials).size).toBe(22)
    // The first bit is that of the sign; the second is there so that no byte is left out.
    for (const serial of serials) expect(serial).toMatch(/^[4-7][\dA-F]{31}$/)
  })

  it("is valid from a day before, for more than a year and fewer than 399 days", () => {
    for (const { validFromDate, validToDate } of [server, authority]) {
      expect(validFromDate.toISOString()).toBe("2026-04-30T00:00:00.000Z")
      expect(validToDate.toISOString()).toBe("2027-06-02T00:00:00.000Z")
    }
  })
})
