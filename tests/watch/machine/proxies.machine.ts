/**
 * Proxies between all programs that speak HTTP. Every message must arrive at once, and no proxy may hold back a stream. Needs Linux and
 * root; installs tinyproxy, nginx and Caddy from Debian if they are missing.
 */
import { writeFileSync } from "node:fs"
import { get, type IncomingMessage } from "node:http"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createGunzip } from "node:zlib"
import { certificateFile, keyFile } from "@berthkit/testing/certificate"
import { compressingProxy } from "@berthkit/testing/compressingProxy"
import { freePort } from "@berthkit/testing/freePort"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { expect, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { verify } from "@berthkit/watch"
import { dialectFlags, placeLines, placeSettings } from "../../account.ts"
import { folder, until, wait } from "../Scene.ts"
import { installProgram } from "@berthkit/testing/debian"
import { blockOf, substitute } from "./documented.ts"

const binary = (app: string, name: string) =>
  fileURLToPath(new URL(`../../../apps/${app}/bin/${name}.mjs`, import.meta.url))

type Variables = Readonly<Record<string, string>>

const start = (app: string, name: string, args: ReadonlyArray<string>, env: Variables = {}) =>
  Program.start(() => Program.ofNode(binary(app, name), args, { env }))

const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`

/** A receiver of webhooks and heartbeats. It verifies the signatures of the webhooks. */
const receiver = Effect.gen(function* () {
  const taken = { types: [] as Array<string>, beats: 0 }
  const { url } = yield* HttpService.start((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", async () => {
      if (request.url === "/beat") taken.beats += 1
      if (request.url === "/hook") taken.types.push((await verify(body, request.headers, secret)).type)
      response.writeHead(204).end()
    })
  })
  return { taken, port: new URL(url).port }
})

/** A mock whose nodes change fast. */
const mock = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const lives = ["--provisioning", "300ms", "--termination", "300ms", "--rate-limit", "1000000/1h", ...dialectFlags]
  const program = yield* start("server", "berth-server", ["--port", "0", "--scenario", "small", ...lives, ...args])
  return JSON.parse(yield* wait(() => program.printed(/^\{.*\}$/m))) as Readonly<
    Record<"url" | "apiKey" | "accessToken", string>
  >
})

const accountOf = (baseUrl: string, { accessToken, apiKey }: Readonly<Record<"apiKey" | "accessToken", string>>) => ({
  BERTH_BASE_URL: baseUrl,
  BERTH_API_KEY: apiKey,
  BERTH_ACCESS_TOKEN: accessToken,
  ...placeSettings
})

/** A daemon that sends events and heartbeats to a receiver. */
const daemonOf = Effect.fnUntraced(function* (path: string, account: Variables, hooks: string, env: Variables = {}) {
  const config = join(path, "watch.yml")
  writeFileSync(
    config,
    `store: ${path}/watch.db
listen: 127.0.0.1:0
accounts:
  - name: acme
    baseUrl: ${account["BERTH_BASE_URL"]}
    apiKey: { env: BERTH_API_KEY }
    accessToken: { env: BERTH_ACCESS_TOKEN }
${placeLines("    ")}    interval: 200ms
sinks:
  - { name: ops, webhook: { url: "${hooks}/hook", secrets: [{ env: OPS_SECRET }], allowPrivate: true } }
heartbeat: { url: "${hooks}/beat", every: 1s }
`
  )
  const daemon = yield* start("watch", "berth-watch", ["run", "--config", config, "--requests-per-hour", "100000"], {
    ...account,
    ...env,
    OPS_SECRET: secret,
    XDG_STATE_HOME: path
  })
  const { http } = JSON.parse(yield* wait(() => daemon.printed(/^\{.*\n/m, "stderr")))
  return http as string
})

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** Creates a node with `berth`. */
const makeNode = (account: Variables, env: Variables) =>
  Effect.gen(function* () {
    const berth = yield* start("cli", "berth", ["node", "create", "web", ...order, "--yes"], { ...account, ...env })
    yield* wait(() => berth.succeeded())
  })

const ask = async (url: string) => {
  const reply = await fetch(url)
  return [reply.status, await reply.text()] as const
}

/** Starts a proxy, and waits until it answers. */
const startProxy = Effect.fnUntraced(function* (url: string, make: () => Program) {
  const program = yield* Program.start(make)
  yield* Effect.retry(
    Effect.tryPromise(() => ask(url)),
    { while: () => program.child.exitCode === null, schedule: Schedule.spaced("20 millis") }
  )
  return url
})

it.live("all that is sent arrives through a forward proxy, which alone knows the names", () =>
  Effect.gen(function* () {
    installProgram("tinyproxy")
    const path = yield* folder
    const { port: hooksPort, taken } = yield* receiver
    const service = yield* mock("--tls-key", keyFile, "--tls-cert", certificateFile, "--allow-host", "service.invalid")
    const servicePort = new URL(service.url).port
    const port = yield* wait(freePort)
    const [hosts, config] = [join(path, "hosts"), join(path, "tinyproxy.conf")]
    writeFileSync(hosts, "127.0.0.1 localhost service.invalid hooks.invalid\n")
    writeFileSync(
      config,
      `Port ${port}\nListen 127.0.0.1\nAllow 127.0.0.1\nMaxClients 100\nConnectPort ${servicePort}\n`
    )
    const script = `mount --bind "${hosts}" /etc/hosts && exec tinyproxy -d -c "${config}"`
    const args = ["--mount", "--propagation", "private", "sh", "-c", script]
    const proxy = yield* startProxy(`http://127.0.0.1:${port}`, () => new Program("unshare", args))
    const env = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NODE_EXTRA_CA_CERTS: certificateFile, HOME: path }
    const account = accountOf(`https://service.invalid:${servicePort}`, service)
    yield* daemonOf(path, account, `http://hooks.invalid:${hooksPort}`, env)
    yield* makeNode(account, env)
    yield* until(() => taken.beats > 0 && taken.types.includes("berth.node.created"))
  }).pipe(Effect.scoped)
)

/** nginx with the configuration of the docs, but without TLS, and compressing everything that it may. */
const nginx = Effect.fnUntraced(function* (port: string) {
  installProgram("nginx")
  const path = yield* folder
  const own = yield* wait(freePort)
  const server = substitute(blockOf("docs/watch-http.md", "nginx", "proxy_pass"), {
    "listen 443 ssl": `listen 127.0.0.1:${own}`,
    "ssl_certificate /etc/ssl/watch.pem;": "",
    "ssl_certificate_key /etc/ssl/watch.key;": "",
    "127.0.0.1:9464": `127.0.0.1:${port}`
  })
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (each) => `${each}_temp_path ${path}/${each};`
  )
  const compressing = "gzip on; gzip_types *; gzip_min_length 0; gzip_proxied any;"
  const config = join(path, "nginx.conf")
  writeFileSync(
    config,
    `daemon off;\nmaster_process off;\npid ${path}/pid;\nevents {}\nhttp { access_log off; ${compressing} ${temporary.join(" ")}\n${server}}\n`
  )
  return yield* startProxy(`http://127.0.0.1:${own}`, () => new Program("nginx", ["-c", config, "-e", "stderr"]))
})

/** Caddy with the configuration of the docs, but without TLS, and compressing everything that it may. */
const caddy = Effect.fnUntraced(function* (port: string) {
  installProgram("caddy")
  const path = yield* folder
  const own = yield* wait(freePort)
  const site = substitute(blockOf("docs/watch-http.md", "caddyfile", "watch.example.com"), {
    "watch.example.com {": `http://127.0.0.1:${own} {\n  encode gzip`,
    "127.0.0.1:9464": `127.0.0.1:${port}`
  })
  const config = join(path, "Caddyfile")
  writeFileSync(config, `{\n  admin off\n}\n${site}`)
  const env = { HOME: path, XDG_DATA_HOME: path, XDG_CONFIG_HOME: path }
  const args = ["run", "--config", config, "--adapter", "caddyfile"]
  return yield* startProxy(`http://127.0.0.1:${own}`, () => new Program("caddy", args, { env }))
})

/** Follows a stream like a browser, which accepts compressed replies. Returns the text so far. */
const follow = (url: string) =>
  Effect.gen(function* () {
    const stream = { text: "" }
    const headers = { accept: "text/event-stream", "accept-encoding": "gzip" }
    const asked = get(url, { headers }, (response: IncomingMessage) => {
      const isCompressed = response.headers["content-encoding"] === "gzip"
      const read = isCompressed ? response.pipe(createGunzip()) : response
      read.on("data", (part: Buffer) => (stream.text += part.toString())).on("error", () => {})
      response.on("error", () => {})
    }).on("error", () => {})
    yield* Effect.addFinalizer(() => Effect.sync(() => asked.destroy()))
    yield* until(() => stream.text !== "")
    return stream
  })

it.live.each([
  ["nginx", nginx],
  ["Caddy", caddy],
  [
    "a proxy that compresses",
    (port: string) => Effect.map(compressingProxy(`http://127.0.0.1:${port}`), ({ url }) => url)
  ]
] as const)(
  "%s before the daemon, the mock and a receiver passes on streams, pages, webhooks and beats",
  ([, before]) =>
    Effect.gen(function* () {
      const path = yield* folder
      const { port, taken } = yield* receiver
      const service = yield* mock()
      const baseUrl = yield* before(new URL(service.url).port)
      const account = accountOf(baseUrl, service)
      const http = yield* daemonOf(path, account, yield* before(port))
      const front = yield* before(new URL(http).port)

      for (const page of [`${front}/`, `${baseUrl}/_mock/`]) {
        const reply = yield* wait(() => fetch(page))
        const text = yield* wait(() => reply.text())
        expect([reply.status, text]).toEqual([200, expect.stringMatching(/^<!doctype html>/i)])
      }
      const events = yield* follow(`${front}/events`)
      const requests = yield* follow(`${baseUrl}/_mock/events`)
      yield* makeNode(account, { HOME: path })
      yield* until(() => requests.text.includes('"operation":"nodes.create"'))
      yield* until(() => events.text.includes('"type":"berth.node.created"'))
      yield* until(() => taken.beats > 0 && taken.types.includes("berth.node.created"))
    }).pipe(Effect.scoped)
)
