/**
 * Provokes every trouble in a real daemon, with a service and receivers of the test. The trouble shows in every place that is derived from
 * the table, including the page in a browser, and disappears from all of them when it ends. Needs Linux, root (for a separate disk) and
 * Chromium.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { launchChromium } from "@berthkit/testing/Chromium"
import { HttpService } from "@berthkit/testing/HttpService"
import { troubleTable } from "@berthkit/watch/troubles/table"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { Daemon } from "../Daemon.ts"
import { receiver, until, wait } from "../Scene.ts"
import { diskOf, fill, free } from "./disk.ts"

/** Within this time after a trouble begins or ends, every place shows it. */
const maxMillis = 15_000

interface ServiceState {
  ids: ReadonlyArray<number>
  /** Whether the node with the first id has a name. */
  isNamed: boolean
  name: string
  status: number
  headers: Readonly<Record<string, string>>
}

/** A service whose list of nodes the test controls. */
const service = Effect.gen(function* () {
  const state: ServiceState = {
    ids: [1, 2, 3, 4, 5, 6, 7, 8],
    isNamed: true,
    name: "web",
    status: 200,
    headers: {}
  }
  const record = (id: number) => ({
    id,
    name: id === 1 && !state.isNamed ? null : `${state.name}-${id}`,
    status: "running",
    created_at: "2026-01-01T00:00:00Z"
  })
  const { url } = yield* HttpService.start((request, response) => {
    const found = new URL(request.url!, "http://service")
    const id = /\/nodes\/(\d+)\/$/.exec(found.pathname)?.[1]
    const isKnown = id === undefined || state.ids.includes(Number(id))
    const perPage = Number(found.searchParams.get("per_page") ?? 100)
    const begin = (Number(found.searchParams.get("page_no") ?? 1) - 1) * perPage
    const page = found.pathname.endsWith("/nodes/") ? state.ids.slice(begin, begin + perPage).map(record) : []
    const data = id === undefined ? page : record(Number(id))
    const code = state.status === 200 && !isKnown ? 404 : state.status
    const body =
      code === 200 ? { message: "Success", code, data, errors: {} } : { message: "No", code, data: {}, errors: {} }
    response.writeHead(code, { "content-type": "application/json", ...state.headers }).end(JSON.stringify(body))
  })
  return { state, url }
})

interface Options {
  readonly folder: string
  readonly baseUrl: string
  readonly sinks?: Readonly<Record<string, { readonly url: string; readonly more?: string }>>
  readonly more?: string
}

const steppedClock = fileURLToPath(new URL("steppedClock.ts", import.meta.url))

let browser: Awaited<ReturnType<typeof launchChromium>>
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser.close())

/** A daemon that watches one account, with its config and its keys in a folder; and a page for its dashboard. */
const start = Effect.fnUntraced(function* ({ baseUrl, folder, more = "", sinks = {} }: Options) {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, "watch.yml")
  const sinkLines = Object.entries(sinks).map(
    ([name, { more = "", url }]) => `  - { name: ${name}, webhook: { url: "${url}", allowPrivate: true }${more} }`
  )
  writeFileSync(join(folder, "key"), "key-0123456789")
  writeFileSync(
    config,
    `store: watch.db
listen: 127.0.0.1:0
accounts:
  - name: acme
    baseUrl: ${baseUrl}
    apiKey: { file: ${join(folder, "key")} }
    accessToken: { file: ${join(folder, "key")} }
    interval: 200ms
    grace: 200ms
    hold: 1h
sinks:
${[...sinkLines, "  - { name: log, stdout: {} }"].join("\n")}
${more}`
  )
  const daemon = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Daemon(["run", "--config", config, "--requests-per-hour", "1000000"], {
          NODE_OPTIONS: `--import=${steppedClock}`
        })
    ),
    (daemon) => Effect.promise(() => daemon[Symbol.asyncDispose]())
  )
  yield* wait(() => daemon.ready())
  yield* wait(() => daemon.baseline())
  const page = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newPage()),
    (page) => Effect.promise(() => page.close())
  )
  return { daemon, config, page, store: join(folder, "watch.db") }
})

type Running = Effect.Success<ReturnType<typeof start>>

/** The URL in the last ready line, because a reload may take another port. */
const urlOf = ({ daemon }: Running): string =>
  JSON.parse(Array.from(daemon.program.printedOn.stderr.matchAll(/^\{"http".*$/gm)).at(-1)![0]).http

const reload = ({ daemon: { program } }: Running) =>
  Effect.gen(function* () {
    program.signal("SIGHUP")
    yield* wait(() => program.printed(/(^\{"http".*\n[^]*){2}/m, "stderr"))
  })

/** The text at the top of a page that stays open. */
const topOfPage = async ({ page }: Running, url: string): Promise<string> => {
  if (!page.url().startsWith(url)) await page.goto(url)
  return page.locator("#troubles").innerText()
}

const textOf = (url: string) => fetch(url).then((reply) => reply.text())

/** How each place shows a trouble. */
const placesOf = async (running: Running, name: string): Promise<Readonly<Record<string, boolean>>> => {
  const entry = troubleTable.find((each) => each.name === name)!
  const url = urlOf(running)
  const { troubles } = JSON.parse(await textOf(`${url}/api/status`))
  const found = troubles.find((each: any) => each.name === name)
  const metrics = await textOf(`${url}/metrics`)
  const { reasons } = JSON.parse(await textOf(`${url}/readyz`))
  const { events } = JSON.parse(await textOf(`${url}/api/events?limit=1000`))
  const last = (type: string) =>
    events.findLastIndex(({ event }: any) => event.type === type && event.data.trouble === name)
  const { stderr } = running.daemon.program.printedOn
  const lines = Array.from(stderr.matchAll(new RegExp(`^berth-watch: ${name}( \\(\\w+\\))?(:| is over).*$`, "gm")))
  return {
    status: found !== undefined && found.message.startsWith(entry.sentence) && found.next.length > 0,
    metrics: new RegExp(`^berth_trouble\\{[^}]*trouble="${name}"[^}]*\\} 1$`, "m").test(metrics),
    stderr: lines.at(-1)?.[2] === ":",
    page: (await topOfPage(running, url)).includes(entry.sentence),
    ...(entry.isUnready ? { ready: reasons.some((reason: string) => reason.includes(entry.sentence)) } : {}),
    ...(entry.event === "berth.watch.trouble"
      ? { event: last("berth.watch.trouble") > last("berth.watch.trouble_ended") }
      : {})
  }
}

/** The output of the command for people. */
const statusOf = async ({ config }: Running): Promise<string> => {
  await using command = new Daemon(["status", "--config", config, "--output", "text"], {})
  const { code, stdout } = await command.finished()
  expect(code).toBe(0)
  return stdout.join("\n")
}

/** Waits until a trouble shows everywhere, or nowhere. */
const shows = (running: Running, name: string, isThere: boolean) =>
  Effect.gen(function* () {
    let sinceMillis: number | null = null
    for (;;) {
      const places = Object.values(yield* wait(() => placesOf(running, name)))
      const now = performance.now()
      // The time counts from the first place that shows the trouble, because the table decides when the daemon finds it.
      if (places.some((place) => place === isThere)) sinceMillis ??= now
      expect([name, isThere, now - (sinceMillis ?? now) < maxMillis, places]).toEqual([name, isThere, true, places])
      if (places.every((place) => place === isThere)) break
      yield* Effect.sleep("200 millis")
    }
    const { sentence } = troubleTable.find((each) => each.name === name)!
    expect([name, (yield* wait(() => statusOf(running))).includes(sentence)]).toEqual([name, isThere])
  })

const begins = (running: Running, name: string) => shows(running, name, true)
const ends = (running: Running, name: string) => shows(running, name, false)

/** Expects one line for the beginning and one for the end of each trouble. */
const expectLines = ({ daemon }: Running, names: ReadonlyArray<string>) => {
  for (const name of names) {
    const lines = daemon.program.printedOn.stderr.match(new RegExp(`^berth-watch: ${name}\\b.*$`, "gm")) ?? []
    expect([name, lines.length]).toEqual([name, 2])
  }
}

const post = (running: Running, path: string) => wait(() => fetch(`${urlOf(running)}${path}`, { method: "POST" }))

describe.concurrent("a trouble shows everywhere, and is gone from everywhere when it ends", () => {
  it.live("of an account whose list is odd", () =>
    Effect.gen(function* () {
      const { state, url } = yield* service
      const running = yield* start({ folder: yield* diskOf(20), baseUrl: url })
      const { ids } = state

      state.isNamed = false
      yield* begins(running, "records-unreadable")
      state.isNamed = true
      yield* ends(running, "records-unreadable")

      state.headers = { "ratelimit-limit": "1200", "ratelimit-remaining": "50", "ratelimit-reset": "1" }
      yield* begins(running, "allowance-low")
      state.headers = { "ratelimit-limit": "1200", "ratelimit-remaining": "1100", "ratelimit-reset": "1" }
      yield* ends(running, "allowance-low")
      state.headers = {}

      state.ids = [1, 2]
      yield* begins(running, "list-not-believed")
      state.ids = ids
      yield* ends(running, "list-not-believed")
      expectLines(running, ["records-unreadable", "allowance-low", "list-not-believed"])
    })
  )

  it.live("of an account behind another key, and of a clock that is set", () =>
    Effect.gen(function* () {
      const { state, url } = yield* service
      const folder = yield* diskOf(20)
      const running = yield* start({ folder, baseUrl: url })
      const { program } = running.daemon
      const { ids } = state

      program.signal("SIGUSR2")
      yield* begins(running, "clock-stepped")
      program.signal("SIGUSR2")
      yield* ends(running, "clock-stepped")

      state.ids = [101, 102, 103]
      writeFileSync(join(folder, "key"), "key-of-another-account")
      yield* reload(running)
      yield* begins(running, "other-account")
      state.ids = ids
      yield* ends(running, "other-account")
      expectLines(running, ["clock-stepped", "other-account"])
    })
  )

  it.live("of a service that fails, then refuses the credentials", () =>
    Effect.gen(function* () {
      const { state, url } = yield* service
      const running = yield* start({ folder: yield* diskOf(20), baseUrl: url })
      state.status = 503
      yield* begins(running, "service-failing")
      state.status = 401
      yield* begins(running, "account-refused")
      yield* ends(running, "service-failing")
      yield* begins(running, "sweeps-late")
      state.status = 200
      yield* ends(running, "sweeps-late")
      yield* ends(running, "account-refused")
      expectLines(running, ["service-failing", "account-refused", "sweeps-late"])
    })
  )

  it.live("of sinks and of the heartbeat", () =>
    Effect.gen(function* () {
      const { state, url } = yield* service
      const [ops, pager, monitor] = [yield* receiver, yield* receiver, yield* receiver]
      const running = yield* start({
        folder: yield* diskOf(20),
        baseUrl: url,
        sinks: { ops, pager: { url: pager.url, more: ", maxLag: 100" } },
        more: `heartbeat: { url: "${monitor.url}", every: 1s }\n`
      })
      /** Makes one event for each node. */
      let renamed = 0
      const happen = Effect.suspend(() => {
        const before = ops.idsTaken().length
        state.name = `web${++renamed}`
        return ops.state.answer("") === 204 ? until(() => ops.idsTaken().length >= before + 8) : Effect.void
      })

      monitor.state.answer = () => 500
      yield* begins(running, "heartbeat-failing")
      monitor.state.answer = () => 204
      yield* ends(running, "heartbeat-failing")

      ops.state.answer = () => 404
      yield* happen
      yield* begins(running, "sink-failing")
      ops.state.answer = () => 204
      yield* post(running, "/api/sinks/ops/retry")
      yield* ends(running, "sink-failing")

      ops.state.answer = () => 503
      yield* happen
      yield* begins(running, "sink-down")
      ops.state.answer = () => 204
      yield* post(running, "/api/sinks/ops/retry")
      yield* ends(running, "sink-down")

      pager.state.answer = () => 410
      yield* happen
      yield* begins(running, "sink-disabled")
      // The lag becomes more than half of maxLag, but not all of it.
      for (let times = 0; times < 8; times++) yield* happen
      yield* begins(running, "sink-behind")
      pager.state.answer = () => 204
      yield* post(running, "/api/sinks/pager/enable")
      yield* ends(running, "sink-behind")
      yield* ends(running, "sink-disabled")

      // With the normal schedule, this would take three days.
      const database = new DatabaseSync(running.store)
      const body = '{"specversion":"1.0","id":"dead","type":"berth.node.created","source":"/accounts/acme","data":{}}'
      database
        .prepare("INSERT INTO dead_letter VALUES ('ops', 'acme', 1, 1, 'dead', 10, 'the receiver answered 404', ?, ?)")
        .run(yield* Clock.currentTimeMillis, body)
      database.close()
      yield* begins(running, "dead-letters")
      yield* post(running, "/api/sinks/ops/retry")
      yield* ends(running, "dead-letters")
      expectLines(running, [
        "heartbeat-failing",
        "sink-failing",
        "sink-down",
        "sink-disabled",
        "sink-behind",
        "dead-letters"
      ])
    })
  )

  it.live("of a store without room, and of one that holds too much", () =>
    Effect.gen(function* () {
      const { state, url } = yield* service
      const ops = yield* receiver
      const path = yield* diskOf(20)
      state.ids = Array.from({ length: 400 }, (_, index) => index + 1)
      const running = yield* start({
        folder: path,
        baseUrl: url,
        sinks: { ops },
        more: "retention: { maxEvents: 1000 }\n"
      })
      // Nothing happens in the account while the disk is full.
      fill(path)
      yield* begins(running, "store-failing")
      free(path)
      yield* ends(running, "store-failing")

      // Events that a sink has not taken are kept. There are about three for each node.
      ops.state.answer = () => 503
      for (const name of ["one", "two", "three", "four"]) {
        state.name = name
        yield* until(() => running.daemon.program.printedOn.stdout.includes(`"name":"${name}-400"`))
      }
      yield* begins(running, "retention-behind")
      ops.state.answer = () => 204
      yield* post(running, "/api/sinks/ops/retry")
      yield* ends(running, "retention-behind")
      expectLines(running, ["store-failing", "retention-behind"])
    })
  )
})
