/**
 * The credentials of a saved profile are a canary. Every row tries to make berth send the canary elsewhere: with flags, variables, paths,
 * redirects, proxies or other profiles. A listener records every byte that it receives, in any protocol. The canary must reach only its
 * own origin.
 */
import { once } from "node:events"
import { chmod, mkdtemp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { HttpService } from "@berthkit/testing/HttpService"
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"

const canary = { apiKey: "canary-key-7f3a9c", accessToken: "canary-token-51be02" }
const others = { apiKey: "others-key-0d41e8", accessToken: "others-token-9a77c3" }

/** Accepts every connection, acts as a service and as a proxy, and records what it receives. */
class Evil {
  received = ""
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor() {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket.on("error", () => {}))
      socket.setEncoding("latin1").on("data", (text: string) => {
        this.received += text
        if (text.startsWith("CONNECT ")) return void socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        if (!/^[A-Z]+ /.test(text)) return void socket.destroy()
        const body = ok([]).body ?? ""
        socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      })
    })
  }

  static async listen(): Promise<Evil> {
    const evil = new Evil()
    // Listen on every loopback address, because 127.0.0.2 counts as another host.
    await once(evil.#server.listen(0, "0.0.0.0"), "listening")
    return evil
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const closed = once(this.#server, "close")
    this.#server.close()
    await closed
  }
}

/** The addresses and folders of a row. */
interface Place {
  /** The origin of the canary: `http://127.0.0.1:PORT`. */
  readonly own: string
  readonly ownPort: string
  readonly evil: string
  readonly evilPort: string
}

type Text = string | ((place: Place) => string)

interface Row {
  readonly args: ReadonlyArray<Text>
  readonly env?: Readonly<Record<string, Text>>
  /** The address with which the canary was saved. Default: the address of its own service. */
  readonly savedWith?: Text
  /** The reply that its own service sends instead of a list. */
  readonly redirect?: number
  readonly input?: string
  /** Default 0. */
  readonly code?: number
  /** The service that gets a request. Default: none. */
  readonly asked?: "own" | "evil" | "nobody"
  /** Whether the row needs a separate process, because proxies come from the environment of a process. */
  readonly isProcess?: true
}

const own = ({ own }: Place) => own
const evil = ({ evil }: Place) => evil
const at =
  (host: string, port: "ownPort" | "evilPort" = "evilPort") =>
  (place: Place) =>
    `http://${host}:${place[port]}`
const list = ["node", "list"]
const refused = (...args: ReadonlyArray<Text>): Row => ({ args, code: 3 })
const listing = (env: Row["env"] & object, more: Partial<Row> = {}): Row => ({ args: list, env, ...more })
const othersHere = { BERTH_API_KEY: others.apiKey, BERTH_ACCESS_TOKEN: others.accessToken }
const canaryHere = { BERTH_API_KEY: canary.apiKey, BERTH_ACCESS_TOKEN: canary.accessToken }
const toEvil = { BERTH_BASE_URL: evil }

const flags: Record<string, Row> = {
  "--base-url": refused(...list, "--base-url", evil),
  "--base-url=": refused(...list, ({ evil }) => `--base-url=${evil}`),
  "--base-url before the command": refused("--base-url", evil, ...list),
  "the whole address": refused(...list, "--base-url", ({ evil }) => `${evil}/myaccount/api/v1`),
  "another name of the same machine": refused(...list, "--base-url", at("localhost", "ownPort")),
  "another address of the same machine": refused(...list, "--base-url", at("127.0.0.2", "ownPort")),
  "another port of the same name": refused(...list, "--base-url", at("localhost")),
  "a name with a dot at its end": refused(...list, "--base-url", at("localhost.")),
  "an address as one number": refused(...list, "--base-url", at("2130706433")),
  "the same host with TLS": refused(...list, "--base-url", ({ ownPort }) => `https://127.0.0.1:${ownPort}`),
  "the same host without TLS": {
    ...refused(...list, "--base-url", evil),
    savedWith: ({ evilPort }) => `https://127.0.0.1:${evilPort}`
  },
  "the same host without TLS, allowed": {
    ...refused(...list, "--allow-http", "--base-url", evil),
    savedWith: ({ evilPort }) => `https://127.0.0.1:${evilPort}`
  },
  "a name that looks the same": {
    ...refused(...list, "--base-url", "https://bücher.test"),
    savedWith: "https://bucher.test"
  },
  "its own address as the user of another": {
    args: [...list, "--base-url", ({ evilPort, own }) => `${own}@127.0.0.1:${evilPort}`],
    code: 2
  },
  "an address with a password": {
    args: [...list, "--base-url", ({ evilPort }) => `http://a:b@127.0.0.1:${evilPort}`],
    code: 2
  },
  "an address with a fragment": { args: [...list, "--base-url", ({ evil, own }) => `${evil}#${own}`], code: 2 },
  "an address with a backslash": { args: [...list, "--base-url", ({ evil }) => `${evil}\\@127.0.0.1`], code: 2 },
  "an address without a scheme": {
    args: [...list, "--base-url", ({ evilPort }) => `//127.0.0.1:${evilPort}`],
    code: 2
  },
  "an empty address": { args: [...list, "--base-url", ""], code: 2 },
  "another spelling of its own address": {
    args: [...list, "--base-url", ({ ownPort }) => `HTTP://0x7f.1:0${ownPort}/myaccount/api/v1/`],
    asked: "own"
  }
}

const profiles: Record<string, Row> = {
  "the profile of another service": { args: [...list, "--profile", "other"], asked: "evil" },
  "the profile of another service, in the environment": listing({ BERTH_PROFILE: "other" }, { asked: "evil" }),
  "its own profile at another address": refused(...list, "--profile", "canary", "--base-url", evil),
  "its own profile at another address of the environment": listing({ ...toEvil, BERTH_PROFILE: "canary" }, { code: 3 }),
  "its own profile by a flag, over the environment": {
    args: [...list, "--profile", "canary"],
    env: { ...toEvil, ...othersHere },
    asked: "own"
  },
  "the profile of another service at its own address": refused(...list, "--profile", "other", "--base-url", own),
  "the profile of another service beside a canary in the environment": {
    args: [...list, "--profile", "other"],
    env: { ...canaryHere, BERTH_BASE_URL: own },
    asked: "evil"
  }
}

const environment: Record<string, Row> = {
  "an address alone": listing(toEvil, { code: 3 }),
  "an address and an empty key": listing({ ...toEvil, BERTH_API_KEY: "" }, { code: 3 }),
  "an address and empty credentials": listing({ ...toEvil, BERTH_API_KEY: " ", BERTH_ACCESS_TOKEN: "" }, { code: 3 }),
  "an address and a key": listing({ ...toEvil, BERTH_API_KEY: others.apiKey }, { code: 3 }),
  "an address and a token": listing({ ...toEvil, BERTH_ACCESS_TOKEN: others.accessToken }, { code: 3 }),
  "a whole account": listing({ ...toEvil, ...othersHere }, { asked: "evil" }),
  "an empty address": listing({ BERTH_BASE_URL: "" }, { asked: "own" }),
  "a blank address": listing({ BERTH_BASE_URL: "  " }, { asked: "own" }),
  "its own address": listing({ BERTH_BASE_URL: own }, { asked: "own" }),
  "a canary of the environment at the address of a flag": {
    ...refused(...list, "--base-url", evil),
    env: { ...canaryHere, BERTH_BASE_URL: own }
  },
  "a key of the environment and the token of the profile at the address of a flag": {
    ...refused(...list, "--base-url", evil),
    env: { BERTH_API_KEY: others.apiKey }
  },
  "http that is allowed": listing({ ...toEvil, BERTH_ALLOW_HTTP: "1" }, { code: 3 })
}

const commands: Record<string, Row> = {
  "auth status": { args: ["auth", "status"], env: toEvil, code: 3 },
  doctor: { args: ["doctor"], env: toEvil, code: 3 },
  limits: { args: ["limits"], env: toEvil, code: 3 },
  cost: { args: ["cost"], env: toEvil, code: 3 },
  "plan list": { args: ["plan", "list"], env: toEvil, code: 3 },
  "node create": {
    args: ["node", "create", "x", "--plan", "P", "--image", "I", "--force", "--yes"],
    env: toEvil,
    code: 3
  },
  "node delete": { args: ["node", "delete", "7", "--yes"], env: toEvil, code: 3 },
  "node watch": { args: ["node", "watch"], env: toEvil, code: 3 },
  api: { args: ["api", "POST", "/nodes/", "-d", "{}"], env: toEvil, code: 3 },
  "api --paginate": { args: ["api", "/nodes/", "--paginate"], env: toEvil, code: 3 },
  "node ssh": { args: ["node", "ssh", "web"], env: toEvil, code: 3, isProcess: true },
  "completion of names": { args: ["__complete", "bash", "--", "node", "get", ""], env: toEvil, isProcess: true },
  "completion with a flag": { args: ["__complete", "bash", "--", "--base-url", evil, "node", "get", ""], asked: "own" },
  "reading the values of completions": { args: ["__values"], env: toEvil },
  "auth login elsewhere": {
    args: ["auth", "login", "--profile", "third", "--base-url", evil],
    input: `${others.apiKey}\n${others.accessToken}\n`,
    asked: "evil",
    isProcess: true
  },
  "auth login elsewhere that would replace the profile": {
    args: ["auth", "login"],
    env: toEvil,
    input: `${canary.apiKey}\n${canary.accessToken}\n`,
    code: 2,
    isProcess: true
  },
  "auth login without secrets": { args: ["auth", "login", "--base-url", evil], code: 2, isProcess: true },
  "auth login of a named profile": {
    args: ["auth", "login", "--profile", "canary"],
    env: toEvil,
    input: `${canary.apiKey}\n${canary.accessToken}\n`,
    asked: "own",
    isProcess: true
  }
}

const apiPath = (path: Text, more: Partial<Row> = {}): Row => ({ args: ["api", path], asked: "own", ...more })

const paths: Record<string, Row> = {
  "a path that begins with a host": apiPath(({ evilPort }) => `//127.0.0.1:${evilPort}/x`),
  "a whole address": apiPath(({ evil }) => `${evil}/myaccount/api/v1/nodes/`),
  "a path that makes the host a user": apiPath(({ evilPort }) => `@127.0.0.1:${evilPort}/`),
  "a path of backslashes": { args: ["api", ({ evilPort }) => `\\\\127.0.0.1:${evilPort}\\x`], code: 5 },
  "a query with an address": apiPath(({ evil }) => `/nodes/?next=${evil}`),
  "a path above the interface": { args: ["api", "../.."], code: 5 },
  "a path above the interface, encoded": { args: ["api", "/%2e%2e/%2e%2e/x"], code: 5 },
  "a path above the interface, to a host": {
    args: ["api", ({ evilPort }) => `/../../..//127.0.0.1:${evilPort}/`],
    code: 5
  }
}

const redirects: Record<string, Row> = Object.fromEntries(
  [300, 301, 302, 303, 304, 307, 308].flatMap((redirect) => [
    [`${redirect} to a read`, { args: list, redirect, code: 7, asked: "own" }],
    [`${redirect} to a change`, { args: ["api", "POST", "/nodes/", "-d", "{}"], redirect, code: 7, asked: "own" }]
  ])
)

const proxy = (name: string, more: Partial<Row> = {}): Row =>
  listing({ [name]: evil }, { asked: "own", isProcess: true, ...more })

const beyond = "http://service.invalid"

const proxies: Record<string, Row> = {
  HTTP_PROXY: proxy("HTTP_PROXY"),
  http_proxy: proxy("http_proxy"),
  HTTPS_PROXY: proxy("HTTPS_PROXY"),
  ALL_PROXY: proxy("ALL_PROXY"),
  "a proxy and Node's own switch": listing(
    { HTTP_PROXY: evil, NODE_USE_ENV_PROXY: "1" },
    { asked: "own", isProcess: true }
  ),
  "a proxy and exceptions of the user": listing(
    { HTTP_PROXY: evil, NO_PROXY: "x.test" },
    { asked: "own", isProcess: true }
  ),
  // Nothing listens there, but berth must not try the proxy instead.
  "a proxy towards another loopback address": proxy("HTTP_PROXY", {
    args: [...list, "--deadline", "500ms"],
    savedWith: at("127.0.0.2", "ownPort"),
    asked: "nobody",
    code: 7
  }),
  "a proxy towards plain http": proxy("HTTP_PROXY", { savedWith: beyond, asked: "nobody", code: 2 }),
  "a proxy towards plain http, and another origin": proxy("HTTP_PROXY", {
    args: [...list, "--allow-http", "--base-url", "http://other.invalid"],
    savedWith: beyond,
    asked: "nobody",
    code: 3
  }),
  "a proxy of a tunnel": listing(
    { HTTPS_PROXY: evil },
    {
      savedWith: "https://service.invalid",
      asked: "evil",
      code: 7,
      isProcess: true,
      args: [...list, "--deadline", "2s"]
    }
  )
}

const exposed: Record<string, Row> = {
  "plain http to another machine": { args: list, savedWith: "http://192.0.2.1", code: 2 },
  "plain http to a name that may be another machine": { args: list, savedWith: "http://localhost.:1", code: 2 },
  "plain http to another machine, not allowed by 0": listing({ BERTH_ALLOW_HTTP: "0" }, { savedWith: beyond, code: 2 }),
  "a variable that says neither yes nor no": listing(
    { BERTH_ALLOW_HTTP: "yes please" },
    { savedWith: beyond, code: 2 }
  ),
  "a login over plain http": {
    args: ["auth", "login", "--profile", "canary", "--base-url", "http://192.0.2.1"],
    input: `${canary.apiKey}\n${canary.accessToken}\n`,
    code: 2,
    isProcess: true
  }
}

let home: string
let listener: Evil
let service: HttpService
let place: Place
let redirect: number | undefined
let asked: Array<string>

const file = () => join(home, ".config", "berth", "profiles.json")

beforeAll(async () => {
  listener = await Evil.listen()
  service = await HttpService.listen((request, response) => {
    asked.push(request.url ?? "")
    const headers = { location: `${place.evil}${request.url}`, refresh: `0; url=${place.evil}` }
    if (redirect !== undefined) return void response.writeHead(redirect, headers).end()
    const node = nodeRecord({ id: 7, name: "web" })
    const { body, status } = ok(request.url?.includes("/nodes/7/") === true ? node : [node])
    response.writeHead(status, { "content-type": "application/json" }).end(body)
  })
  const [ownPort, evilPort] = [new URL(service.url).port, String(listener.port)]
  place = { own: service.url, ownPort, evil: `http://127.0.0.1:${evilPort}`, evilPort }
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await listener[Symbol.asyncDispose]()
})

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "berth-canary-"))
  await mkdir(join(file(), ".."), { recursive: true, mode: 0o700 })
  listener.received = ""
  asked = []
  return () => rm(home, { recursive: true, force: true })
})

const textOf = (text: Text) => (typeof text === "string" ? text : text(place))

const save = (savedWith: Text) =>
  writeFile(
    file(),
    JSON.stringify({
      version: 1,
      current: "canary",
      profiles: { canary: { baseUrl: textOf(savedWith), ...canary }, other: { baseUrl: place.evil, ...others } }
    }),
    { mode: 0o600 }
  )

/** Every spelling that a request, a log or a cache might use. */
const spellings = Object.values(canary).flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  Buffer.from(`:${secret}`).toString("base64").replace(/=+$/, ""),
  Buffer.from(secret).toString("hex")
])

const assertHoldsNoCanary = (text: string, where: string) => {
  for (const spelling of spellings) assert.notInclude(text, spelling, where)
}

/** The files that berth has written, except the profile file. */
const leftovers = async () => {
  const paths = (await readdir(home, { recursive: true })).map((path) => join(home, path))
  const files = await Promise.all(paths.map(async (path) => ((await stat(path)).isFile() ? [path] : [])))
  return Promise.all(
    files
      .flat()
      .filter((path) => path !== file())
      .map((path) => readFile(path, "latin1"))
  )
}

const runRow = ({ args, env = {}, input, isProcess, savedWith = own }: Row) =>
  Effect.gen(function* () {
    yield* Effect.promise(() => save(savedWith))
    const words = args.map(textOf)
    const set = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, textOf(text)]))
    const options = { env: { HOME: home, ...set }, ...(input !== undefined && { input }) }
    return yield* isProcess === true || input !== undefined ? run(words, options) : invoke(words, options)
  })

const groups = { flags, profiles, environment, commands, paths, redirects, proxies, exposed }

describe.each(Object.entries(groups))("the canary arrives at its own origin only: %s", (_, rows) => {
  it.live.each(Object.entries(rows))("%s", ([, row]) =>
    Effect.gen(function* () {
      redirect = row.redirect
      const { code, stderr, stdout } = yield* runRow(row)
      assertHoldsNoCanary(listener.received, "at another origin")
      assertHoldsNoCanary(stdout + stderr, "in the output")
      for (const text of yield* Effect.promise(leftovers)) assertHoldsNoCanary(text, "in a file")
      const gotOne = { own: asked.length > 0, evil: listener.received !== "" }
      const expected = { code: row.code ?? 0, own: row.asked === "own", evil: row.asked === "evil" }
      assert.deepStrictEqual({ code, ...gotOne }, expected, stderr)
      if (expected.code === 3) assert.match(stderr, /^error: .+ belongs to .+ and is not sent to .+\.\nhint: .+\n$/m)
    })
  )
})

describe("what is refused", () => {
  it.live("names the origin, the profile and what to do, and nothing is sent", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* runRow({ args: list, env: toEvil })
      assert.strictEqual(code, 3)
      assert.strictEqual(
        stderr,
        `error: The API key of profile canary belongs to ${place.own} and is not sent to ${place.evil}, which BERTH_BASE_URL names.\n` +
          "hint: Unset BERTH_BASE_URL, or set BERTH_BASE_URL, BERTH_API_KEY and BERTH_ACCESS_TOKEN together, or run: berth auth login --profile NAME.\n"
      )
    })
  )

  it.live("is plain http to another machine, until it is allowed, with one warning", () =>
    Effect.gen(function* () {
      const row = proxy("HTTP_PROXY", { savedWith: beyond })
      const without = yield* runRow(row)
      assert.deepStrictEqual([without.code, listener.received], [2, ""])
      assert.strictEqual(
        without.stderr,
        `error: profile canary is plain http: anyone on the network path to ${beyond} could read the credentials.\n` +
          "hint: Use https://, or add --allow-http, or set BERTH_ALLOW_HTTP=1.\n"
      )
      // This is the only case in which another origin sees the canary: a proxy can read the plain HTTP that it forwards, like everybody
      // on the way.
      for (const [args, env] of [
        [["--allow-http"], {}],
        [[], { BERTH_ALLOW_HTTP: "1" }]
      ] as const) {
        listener.received = ""
        const allowed = yield* runRow({ ...row, args: [...list, ...args], env: { ...row.env, ...env } })
        assert.strictEqual(allowed.code, 0)
        const warning = `warning: ${beyond} is plain http: anyone on the network path can read the credentials.\n`
        assert.strictEqual(allowed.stderr, `${warning}There are no nodes.\n`)
        assert.include(listener.received, `GET ${beyond}/myaccount/api/v1/nodes/`)
      }
      const limits = yield* runRow({ ...row, args: ["limits", "--allow-http"] })
      assert.lengthOf(limits.stderr.match(/warning: /g) ?? [], 1)
      const json = yield* runRow({ ...row, args: [...list, "--allow-http", "-o", "json"] })
      assert.deepStrictEqual([json.code, json.stderr], [0, ""])
    })
  )
})

it.live("ssh gets neither key nor token", () =>
  Effect.gen(function* () {
    const script = `#!/bin/sh\nenv > '${home}/environment'\n`
    yield* Effect.promise(() => writeFile(join(home, "ssh"), script))
    yield* Effect.promise(() => chmod(join(home, "ssh"), 0o755))
    const env = { PATH: `${home}${delimiter}${process.env["PATH"]}`, BERTH_BASE_URL: own, ...canaryHere }
    redirect = undefined
    const { code, stderr } = yield* runRow({ args: ["node", "ssh", "web"], env, isProcess: true })
    assert.strictEqual(code, 0, stderr)
    assertHoldsNoCanary(
      yield* Effect.promise(() => readFile(join(home, "environment"), "utf8")),
      "in the environment of ssh"
    )
  })
)
