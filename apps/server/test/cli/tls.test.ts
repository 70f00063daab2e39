import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { Agent, request } from "node:https"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  certificate as ca,
  certificateFile,
  keyFile,
  otherCertificate,
  otherCertificateFile
} from "@berthkit/testing/certificate"
import { Program } from "@berthkit/testing/Program"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
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
  /** The certificates that the client trusts. */
  readonly ca?: string | undefined
  readonly agent?: Agent
  /** The host name that the client uses for the server. */
  readonly host?: string
}

/** Sends one request; returns how it ended, even if the reply is broken. */
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

const tls = ["--tls-key", keyFile, "--tls-cert", certificateFile]

describe.concurrent("berth-server with a key and a certificate", () => {
  it.live("is called by a client that trusts the certificate, and by no other", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", ...tls, "--scenario", "small"])
      expect(ready.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
      for (const host of ["127.0.0.1", "localhost"]) {
        const { status, text } = yield* ask(ready.url, { ca, host })
        expect([host, status, JSON.parse(text).data.length]).toEqual([host, 200, 5])
      }
      for (const stranger of [{}, { ca: otherCertificate }]) {
        expect((yield* ask(ready.url, stranger)).failure).toBe("DEPTH_ZERO_SELF_SIGNED_CERT")
      }
      expect((yield* ask(ready.url, { ca, path: "/_mock/health" })).status).toBe(200)
    })
  )

  it.live("is called by fetch where the certificate is a file that Node trusts", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", ...tls])
      const source = `const reply = await fetch("${ready.url}/_mock/health"); console.log(reply.status)`
      const env = { NODE_EXTRA_CA_CERTS: certificateFile }
      const program = yield* Program.start(() => Program.ofSource(source, { cwd: tmpdir(), env }))
      expect(yield* Effect.promise(() => program.succeeded())).toBe("200\n")
    })
  )

  it.live("keeps connections alive, and carries faults of the wire out on them", () =>
    Effect.gen(function* () {
      const { ready } = yield* serve(["--port", "0", ...tls, "--scenario", "small"])
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1, ca })),
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

  it.live("survives input that is not TLS, and ends with 0 within 5 s whatever its connections do", () =>
    Effect.gen(function* () {
      const server = yield* serve(["--port", "0", ...tls, "--fault", "hang"])
      const { url } = server.ready
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

  it.live("does not start with another key, another file, or half of it", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [key, cert, text, anothers] = [keyFile, certificateFile, join(path, "text.pem"), otherCertificateFile]
      writeFileSync(text, "no PEM")
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
