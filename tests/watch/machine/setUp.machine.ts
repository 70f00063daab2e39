/**
 * The exact set-up of the docs: the config, the systemd unit, and nginx with TLS in front, with a umask that lets others read. The test
 * replaces only addresses, ports and folders. Needs Linux, root, systemd's tools and openssl; installs nginx from Debian if it is missing.
 */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { request } from "node:https"
import type { IncomingHttpHeaders } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { TestServer } from "@berthkit/server/testing"
import { freePort } from "@berthkit/testing/freePort"
import { Program } from "@berthkit/testing/Program"
import { settingsOf } from "../../account.ts"
import { Daemon } from "../Daemon.ts"
import { fastService } from "../killing.ts"
import { create } from "../polling.ts"
import { receiver, until, wait } from "../Scene.ts"
import { installProgram } from "@berthkit/testing/debian"
import { blockOf, repository, substitute } from "./documented.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "berth-set-up-"))
    // Like /etc, this folder can be read by others.
    chmodSync(path, 0o755)
    return path
  }),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const umask = (mask: number) =>
  Effect.acquireRelease(
    Effect.sync(() => process.umask(mask)),
    (before) => Effect.sync(() => process.umask(before))
  )

const site = "https://watch.example.com"

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Sends a request to the proxy like a browser. */
const browse =
  (port: number) =>
  (path: string, { body, headers = {}, method = "GET" }: { method?: string; body?: unknown; headers?: object } = {}) =>
    Effect.callback<Reply>((resume) => {
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const json =
        sent === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(sent) }
      const asked = request(
        {
          host: "127.0.0.1",
          port,
          path,
          method,
          agent: false,
          servername: "watch.example.com",
          rejectUnauthorized: false,
          headers: { host: "watch.example.com", ...json, ...headers }
        },
        (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (part: string) => (text += part))
          response.on("end", () =>
            resume(Effect.succeed({ status: response.statusCode!, headers: response.headers, text }))
          )
        }
      )
      asked.on("error", (error) => resume(Effect.die(error))).end(sent)
      return Effect.sync(() => asked.destroy())
    })

/** nginx with the configuration of the docs. */
const startProxy = Effect.fnUntraced(function* (path: string, daemonPort: string) {
  installProgram("nginx")
  const port = yield* Effect.promise(freePort)
  const [key, certificate] = [join(path, "watch.key"), join(path, "watch.pem")]
  const subject = ["-subj", "/CN=watch.example.com", "-days", "2"]
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, ...subject],
    {
      stdio: "ignore"
    }
  )
  const server = substitute(blockOf("docs/watch-http.md", "nginx", "proxy_pass"), {
    "listen 443 ssl": `listen 127.0.0.1:${port} ssl`,
    "/etc/ssl/watch.pem": certificate,
    "/etc/ssl/watch.key": key,
    "127.0.0.1:9464": `127.0.0.1:${daemonPort}`
  })
  const config = join(path, "nginx.conf")
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (each) => `${each}_temp_path ${path}/${each};`
  )
  writeFileSync(
    config,
    `daemon off;\nmaster_process off;\npid ${path}/nginx.pid;\nevents {}\nhttp { access_log off; ${temporary.join(" ")}\n${server}}\n`
  )
  const program = yield* Program.start(() => new Program("nginx", ["-c", config, "-e", "stderr"]))
  const ask = browse(port)
  // The proxy refuses connections until it listens.
  yield* Effect.retry(
    Effect.catchDefect(Effect.asVoid(ask("/healthz")), () => Effect.fail("refused" as const)),
    { while: () => program.child.exitCode === null, schedule: Schedule.spaced("20 millis") }
  )
  return ask
})

layer(fastService, { excludeTestServices: true })("the set-up of the docs", (it) => {
  it.effect("keeps its files to itself, its credentials from commands, and lets a browser in through TLS alone", () =>
    Effect.gen(function* () {
      const ops = yield* receiver
      const path = yield* folder
      yield* umask(0o022)
      const { BERTH_BASE_URL, ...credentials } = settingsOf(yield* TestServer)
      const state = join(path, "state")
      const script = join(path, "notify")
      mkdirSync(state, { mode: 0o700 })
      writeFileSync(script, `#!/bin/sh\nenv > ${path}/env.new && mv ${path}/env.new ${path}/env\n`, { mode: 0o755 })
      const config = join(path, "watch.yml")
      const documented = blockOf("docs/reference/daemon.md", "yaml", "accounts:")
      writeFileSync(
        config,
        substitute(documented, {
          "/var/lib/berth": state,
          "listen: 127.0.0.1:9464": "listen: 127.0.0.1:0",
          "https://api.example.com": BERTH_BASE_URL,
          // No server has this address.
          "https://gate.example.com/in": "https://gate.example.invalid/in",
          "https://events.pagerduty.com/v2/enqueue": "https://alerts.example.invalid/in",
          "smtp.example.com": "smtp.example.invalid",
          "interval: auto": "interval: 200ms",
          "https://ops.example.com/hook": ops.url,
          "allowPrivate: false": "allowPrivate: true",
          "/usr/local/bin/notify": script,
          "https://beat.example.com/1": ops.url
        })
      )
      const { BERTH_API_KEY, BERTH_ACCESS_TOKEN, ...place } = credentials
      const secrets = {
        BERTH_API_KEY,
        BERTH_ACCESS_TOKEN,
        BERTH_WATCH_TOKEN: "0123456789abcdef",
        OPS_SECRET: `whsec_${Buffer.alloc(24, 7).toString("base64")}`,
        // The address is private, so the daemon never sends anything there.
        CHAT_URL: "https://chat.example.invalid/secret",
        GATE_AUTH: "Bearer of-the-gate",
        PAGERDUTY_KEY: "key-of-the-alerts",
        MAIL_PASSWORD: "password-of-the-mail"
      }
      const systemd = { STATE_DIRECTORY: state, XDG_STATE_HOME: path, HOME: "/", NOTIFY_ROOM: "42" }
      const daemon = yield* Daemon.start(["run", "--config", config], { ...secrets, ...place, ...systemd })
      const { http, store } = yield* wait(() => daemon.ready())
      yield* wait(() => daemon.baseline())
      yield* create("web")
      yield* until(() => existsSync(join(path, "env")))

      for (const file of [store, `${store}-wal`, `${store}-shm`, `${store}-lock`]) {
        expect([file, (statSync(file).mode & 0o777).toString(8)]).toEqual([file, "600"])
      }
      const environment = readFileSync(join(path, "env"), "utf8")
      expect(environment).toContain("NOTIFY_ROOM=42")
      for (const secret of Object.values(secrets)) expect(environment).not.toContain(secret)

      const ask = yield* startProxy(path, new URL(http!).port)
      const login = (token: string, origin = site) =>
        ask("/api/session", { method: "POST", body: { token }, headers: { origin, "sec-fetch-site": "same-origin" } })
      expect((yield* ask("/")).status).toBe(200)
      expect((yield* ask("/api/status")).status).toBe(401)
      expect((yield* login(secrets.BERTH_WATCH_TOKEN, "https://evil.example.com")).status).toBe(403)
      const entered = yield* login(secrets.BERTH_WATCH_TOKEN)
      expect([entered.status, entered.headers["set-cookie"]![0]]).toEqual([204, expect.stringContaining("; Secure")])
      const cookie = entered.headers["set-cookie"]![0]!.split(";")[0]!
      expect((yield* ask("/api/status", { headers: { cookie } })).status).toBe(200)
      const act = (origin: string) => ask("/api/sinks/script/retry", { method: "POST", headers: { cookie, origin } })
      expect([(yield* act(site)).status, (yield* act("https://evil.example.com")).status]).toEqual([200, 403])

      const guesses = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, index) => `guess-${index}`),
        (guess) => login(guess),
        {
          concurrency: "unbounded"
        }
      )
      const statuses = guesses.map(({ status }) => status)
      expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(15)
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(45)
      expect((yield* ask("/api/status", { headers: { cookie } })).status).toBe(200)
      expect((yield* login(secrets.BERTH_WATCH_TOKEN)).status).toBe(204)
    })
  )

  it.effect("has a unit that systemd takes, and refuses a store that the service could not write", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const program = join(path, "berth-watch")
      copyFileSync("/bin/true", program)
      chmodSync(program, 0o755)
      const unit = readFileSync(repository("apps/watch/operate/berth-watch.service"), "utf8")
      writeFileSync(join(path, "berth-watch.service"), substitute(unit, { "/usr/local/bin/berth-watch": program }))
      // systemd-analyze also prints what systemd would ignore, and still exits with 0.
      const verified = yield* Program.start(
        () => new Program("systemd-analyze", ["verify", join(path, "berth-watch.service")])
      )
      expect(yield* wait(() => verified.ended)).toMatchObject({ code: 0, stderr: "" })

      expect(unit).toContain("StateDirectory=berth\n")
      expect(blockOf("docs/reference/daemon.md", "yaml", "accounts:")).toContain("store: /var/lib/berth/watch.db ")
      const config = join(path, "watch.yml")
      const account = "{ name: a, baseUrl: http://127.0.0.1:1, apiKey: { env: K }, accessToken: { env: K } }"
      writeFileSync(config, `accounts: [${account}]\nstore: ./watch.db\n`)
      const env = { K: "key-0123456789", STATE_DIRECTORY: "/var/lib/berth" }
      const refused = yield* Daemon.start(["run", "--config", config], env)
      expect(yield* wait(() => refused.finished())).toMatchObject({
        code: 2,
        stderr: [
          `${config}:2:8: store has to be an absolute path where systemd runs the daemon, such as /var/lib/berth/watch.db.`,
          `berth-watch: ${config} cannot be used.`
        ]
      })
    })
  )
})
