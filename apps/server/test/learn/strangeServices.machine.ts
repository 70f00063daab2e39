/**
 * Probes of servers that are not the service, fail, or repeat credentials; and the question before a node is created, at a terminal. Needs
 * Linux, because its `script` makes the terminal.
 */
import { mkdtempSync, rmSync } from "node:fs"
import type { IncomingMessage, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { seenOf, spellingsOf } from "@berthkit/testing/spellings"
import { Effect } from "effect"
import { run, serve } from "../cli/berthServer.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-strange-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const secrets = { BERTH_API_KEY: "k3y/with+odd=chars&more", BERTH_ACCESS_TOKEN: "t0ken.with-odd~chars" }
const echo = Object.values(secrets)
  .flatMap((secret) => Object.values(spellingsOf(secret)))
  .join(" ")

let account = 0
/** A separate state folder, because the spent rate limit of one service must not affect the next. */
const accountOf = (url: string) => ({ BERTH_BASE_URL: url, ...secrets, XDG_STATE_HOME: join(folder, `${account++}`) })

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

const nodes = { message: "Success", code: 200, data: [{ id: 1, name: "a", status: "running" }], errors: {} }

/** A service whose catalogue comes from `answer`. */
const withImages =
  (answer: (response: ServerResponse) => void) => (request: IncomingMessage, response: ServerResponse) =>
    request.url?.includes("/images/") === true ? answer(response) : json(response, 200, nodes)

describe("a probe ends in one line, without credentials, with 2", () => {
  it.effect.each<[string, (request: IncomingMessage, response: ServerResponse) => void, RegExp]>([
    [
      "at a login page",
      (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(`<html>${echo}`),
      /the service answered a list of nodes with 200 and text\/html: check that BERTH_BASE_URL/
    ],
    [
      "at a redirect",
      ({ url }, response) => void response.writeHead(302, { location: `https://other.example${url}` }).end(),
      /the service answered a list of nodes with 302/
    ],
    [
      "at a spent rate limit",
      (_, response) => json(response, 429, { message: echo }, { "retry-after": "900" }),
      /the rate limit of the account is spent \(429\): try again later/
    ],
    ["at a service that fails", (_, response) => json(response, 503, { message: echo }), /the service fails \(503\)/],
    [
      "at refused credentials",
      (_, response) => json(response, 401, { message: echo }),
      /refuses the credentials \(401\)/
    ],
    ["at a closed connection", (_, response) => void response.destroy(), /the service cannot be asked/]
  ])("%s", ([, listener, sentence]) =>
    Effect.gen(function* () {
      const { url } = yield* HttpService.start(listener)
      const { code, stderr, stdout } = yield* run(["learn", "--probe"], accountOf(url))
      expect([code, stdout]).toEqual([2, ""])
      expect(stderr).toMatch(sentence)
      expect(stderr).toMatch(/^berth-server[^\n]*\n$/)
      expect(seenOf(stderr, Object.values(secrets))).toEqual([])
    }).pipe(Effect.scoped)
  )
})

it.live("a service that fails in part is said to have, and passes no check", () =>
  Effect.gen(function* () {
    let fails = false
    const answer = (response: ServerResponse) =>
      fails ? json(response, 500, { message: echo }) : json(response, 200, { ...nodes, data: [] })
    const { url } = yield* HttpService.start(withImages(answer))
    const file = join(folder, "part.json")
    const learned = yield* run(["learn", "--probe", "--profile", file], accountOf(url))
    expect([learned.code, learned.stderr]).toEqual([0, ""])
    fails = true
    const partly = yield* run(["learn", "--probe"], accountOf(url))
    expect(partly.code).toBe(0)
    expect(partly.stderr).toMatch(/^berth-server: not everything was learned: \d requests had no usable reply[^\n]*\n$/)
    const checked = yield* run(["learn", "--probe", "--check", file], accountOf(url))
    expect([checked.code, checked.stdout]).toEqual([2, ""])
    expect(checked.stderr).toContain("requests without a usable reply are not compared")
    expect(seenOf(partly.stderr + partly.stdout + checked.stderr, Object.values(secrets))).toEqual([])
  }).pipe(Effect.scoped)
)

it.live("a service that always fails at one request passes a check of what it was", () =>
  Effect.gen(function* () {
    let others = false
    const { url } = yield* HttpService.start((request, response) => {
      const isOdd = request.url?.includes("page_no=abc") === true || (others && request.url?.includes("os=") === true)
      return isOdd ? json(response, 500, { message: "boom" }) : json(response, 200, { ...nodes, data: [] })
    })
    const file = join(folder, "odd.json")
    const learned = yield* run(["learn", "--probe", "--profile", file], accountOf(url))
    expect([learned.code, learned.stderr]).toEqual([0, expect.stringContaining("one request had no usable reply")])
    expect((yield* run(["learn", "--probe", "--check", file], accountOf(url))).code).toBe(0)
    others = true
    expect((yield* run(["learn", "--probe", "--check", file], accountOf(url))).code).toBe(2)
  }).pipe(Effect.scoped)
)

it.live("no node is created whose minimum billing the service does not state", () =>
  Effect.gen(function* () {
    const sent: Array<string> = []
    const specs = { price_per_hour: "1.00", price_per_month: "730.00", minimum_billing_amount: "as agreed" }
    const image = { name: "Ubuntu", plan: "A-1VCPU-1RAM-10DISK", image: "Ubuntu-24.04", os: { name: "Ubuntu" }, specs }
    const answer = withImages((response) => json(response, 200, { ...nodes, data: [image] }))
    const { url } = yield* HttpService.start((request, response) => {
      sent.push(request.method ?? "")
      answer(request, response)
    })
    const args = ["learn", "--probe", "--requests", "3", "--with-node", "--max-charge", "50", "--yes"]
    const { code, stderr } = yield* run(args, accountOf(url))
    expect(code).toBe(2)
    expect(stderr).toContain("no available plan with a disk states its price in rupees and its minimum billing")
    expect(new Set(sent)).toEqual(new Set(["GET"]))
  }).pipe(Effect.scoped)
)

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))

it.live("Ctrl-C before the reply to a create says at once what berth waits for", () =>
  Effect.gen(function* () {
    const specs = { price_per_hour: "1.00", price_per_month: "730.00", minimum_billing_amount: "1.00" }
    const image = { name: "Ubuntu", plan: "A-1VCPU-1RAM-10DISK", image: "Ubuntu-24.04", os: { name: "Ubuntu" }, specs }
    let refuse = () => {}
    const { url } = yield* HttpService.start((request, response) => {
      const data = request.url?.includes("/images/") === true ? [image] : []
      if (request.method !== "POST") return json(response, 200, { ...nodes, data })
      refuse = () => json(response, 422, { message: "no", code: 422, data: {}, errors: { name: ["no"] } })
      learning.signal("SIGINT")
    })
    const args = ["learn", "--probe", "--requests", "3", "--with-node", "--max-charge", "50", "--yes"]
    const learning = yield* Program.start(() =>
      Program.ofNode(binary, args, { env: { ...process.env, ...accountOf(url) } })
    )
    yield* Effect.promise(() => learning.printed("waiting to know whether the node was created", "stderr"))
    yield* Effect.sync(() => refuse())
    expect((yield* Effect.promise(() => learning.ended)).code).toBe(130)
  }).pipe(Effect.scoped)
)

describe("the question before a node is created", () => {
  const places = { documented: {}, today: { BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" } } as const
  it.live.each<[string, string, number, keyof typeof places]>([
    ["no", "n\r", 130, "documented"],
    ["nothing", "\r", 130, "documented"],
    ["Ctrl-C", "\u0003", 130, "documented"],
    ["yes", "y\r", 0, "documented"],
    ["no", "n\r", 130, "today"],
    ["yes", "y\r", 0, "today"]
  ])("answered with %s", ([, typed, exitCode, dialect]) =>
    Effect.gen(function* () {
      const args = ["--port", "0", "--dialect", dialect, "--provisioning", "0s", "--termination", "0s"]
      const { ready } = yield* serve(args)
      const credentials = { BERTH_API_KEY: ready.apiKey, BERTH_ACCESS_TOKEN: ready.accessToken }
      const env = { ...process.env, ...accountOf(ready.url), ...credentials, ...places[dialect], TERM: "xterm" }
      const command = `stty cols 160; exec '${process.execPath}' '${binary}' learn --probe --requests 3 --with-node --max-charge 100`
      const terminalArgs = ["--quiet", "--return", "--flush", "--command", command, "/dev/null"]
      const terminal = yield* Program.start(() => new Program("script", terminalArgs, { env, isInputOpen: true }))
      yield* Effect.promise(() => terminal.printed("Create it? [y/N] "))
      yield* Effect.sync(() => terminal.child.stdin.write(typed))
      const { code, stdout } = yield* Effect.promise(() => terminal.ended)
      expect(code).toBe(exitCode)
      expect(stdout).toContain(exitCode === 0 ? "deleted node" : "nothing was created")
      const journal = yield* Effect.promise(async () =>
        (await fetch(`${ready.url}/_mock/worlds/default/requests`)).text()
      )
      expect(/"method":"POST"/.test(journal)).toBe(exitCode === 0)
      expect(seenOf(stdout, Object.values(credentials))).toEqual([])
    }).pipe(Effect.scoped)
  )
})
