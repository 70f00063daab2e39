/**
 * Every kind of receiver for people from one config, against recorders that refuse what the real service would refuse: retries,
 * silences, dead letters and replays are the same for all, and no secret shows.
 */
import type { IncomingHttpHeaders } from "node:http"
import { PassThrough } from "node:stream"
import { inspect } from "node:util"
import { HttpService } from "@berthkit/testing/HttpService"
import { SmtpService } from "@berthkit/testing/SmtpService"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { readConfig } from "../../src/config/readConfig.ts"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { beginning } from "../../src/events/Cursor.ts"
import type { EventFact } from "../../src/events/Event.ts"
import { Store } from "../../src/store/Store.ts"
import { aNode } from "../diff/aNode.ts"
import { changed, created, deleted } from "../store/facts.ts"
import { memoryStore as store } from "../store/memory.ts"

interface Request {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: any
}

const isText = (value: unknown, max: number) => typeof value === "string" && value !== "" && value.length <= max

/** For each receiver: its answer to a good request, its answer to a bad one, and whether a request is good. */
const services: Readonly<Record<string, readonly [good: number, bad: number, isGood: (request: Request) => boolean]>> =
  {
    slack: [200, 400, ({ json }) => isText(json?.text, 40_000)],
    discord: [204, 400, ({ json }) => isText(json?.content, 2000) && Array.isArray(json.allowed_mentions?.parse)],
    teams: [
      202,
      400,
      ({ json }) =>
        json?.type === "message" &&
        json.attachments.every(
          ({ content, contentType }: any) =>
            contentType === "application/vnd.microsoft.card.adaptive" &&
            content.type === "AdaptiveCard" &&
            content.body.length > 0
        )
    ],
    pagerduty: [
      202,
      400,
      ({ json }) =>
        json?.routing_key === "pagerduty-s3cr3t" &&
        isText(json.dedup_key, 255) &&
        (json.event_action === "resolve" ||
          (json.event_action === "trigger" &&
            isText(json.payload.summary, 1024) &&
            isText(json.payload.source, 255) &&
            ["critical", "error", "warning", "info"].includes(json.payload.severity)))
    ],
    opsgenie: [
      202,
      422,
      ({ headers, json, path }) =>
        headers.authorization === "GenieKey opsgenie-s3cr3t" &&
        (/^\/opsgenie\/[^/]{1,512}\/close\?identifierType=alias$/.test(path) ||
          (path === "/opsgenie" &&
            isText(json?.message, 130) &&
            isText(json.alias, 512) &&
            /^P[1-5]$/.test(json.priority)))
    ],
    ntfy: [
      200,
      400,
      ({ body, headers }) =>
        isText(body, 4096) && headers.title !== undefined && headers.authorization === "Bearer ntfy-s3cr3t"
    ]
  }

/** After this many turns of the event loop something is stuck. */
const maxTurns = 300_000

const names = [...Object.keys(services), "mail"]

const secrets = {
  SLACK: "slack-s3cr3t",
  DISCORD: "discord-s3cr3t",
  TEAMS: "teams-s3cr3t",
  PAGERDUTY: "pagerduty-s3cr3t",
  OPSGENIE: "opsgenie-s3cr3t",
  NTFY: "Bearer ntfy-s3cr3t",
  MAIL_USER: "mail-user-s3cr3t",
  MAIL_PASSWORD: "mail-password-s3cr3t"
}

const configFor = (url: string, mailPort: number) => `
x-to: &to { allowPrivate: true }
accounts:
  - { name: a, baseUrl: "https://api.example.com", apiKey: { env: SLACK }, accessToken: { env: SLACK } }
sinks:
  - { name: slack, webhook: { <<: *to, format: slack, url: { env: SLACK_URL } } }
  - { name: discord, webhook: { <<: *to, format: discord, url: { env: DISCORD_URL } } }
  - { name: teams, webhook: { <<: *to, format: teams, url: { env: TEAMS_URL } } }
  - { name: pagerduty, webhook: { <<: *to, format: pagerduty, url: ${url}/pagerduty, key: { env: PAGERDUTY } } }
  - { name: opsgenie, webhook: { <<: *to, format: opsgenie, url: ${url}/opsgenie, key: { env: OPSGENIE } } }
  - { name: ntfy, webhook: { <<: *to, format: ntfy, url: ${url}/ntfy, headers: { Authorization: { env: NTFY } } } }
  - name: mail
    mail:
      <<: *to
      host: 127.0.0.1
      port: ${mailPort}
      tls: none
      user: { env: MAIL_USER }
      password: { env: MAIL_PASSWORD }
      from: Berth <berth@example.com>
      to: ops@example.com
`

/** Starts the receivers and the sinks of the config. */
const start = Effect.gen(function* () {
  /** What all receivers do: take events, say that they are busy, or refuse every event. */
  const state: { mood: "takes" | "busy" | "refuses" } = { mood: "takes" }
  const faults: Array<string> = []
  /** The attempts at each receiver, and what it has taken. */
  const attempts = new Map(names.map((name) => [name, 0]))
  const taken = new Map<string, Array<string>>(names.map((name) => [name, []]))
  const attempted = (name: string) => void attempts.set(name, attempts.get(name)! + 1)

  const http = yield* HttpService.start((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      const path = request.url!
      const name = /^\/(\w+)/.exec(path)![1]!
      const [good, bad, isGood] = services[name]!
      const isJson = request.headers["content-type"] === "application/json"
      attempted(name)
      if (!isGood({ path, headers: request.headers, body, json: isJson ? JSON.parse(body) : null })) faults.push(body)
      if (state.mood === "takes") taken.get(name)!.push(`${path} ${body}`)
      // A real service may repeat what it got.
      response
        .writeHead(state.mood === "takes" ? good : state.mood === "busy" ? 503 : bad)
        .end(state.mood === "takes" ? undefined : Object.values(secrets).join(" "))
    })
  })
  const smtp = yield* SmtpService.start({
    tls: "none",
    login: { user: secrets.MAIL_USER, password: secrets.MAIL_PASSWORD }
  })
  smtp.refuseMessage = ({ message }) => {
    attempted("mail")
    if (!/^Subject: \[a\] /m.test(message)) faults.push(message)
    if (state.mood === "takes") taken.get("mail")!.push(message)
    const repeated = `${secrets.MAIL_USER} ${secrets.MAIL_PASSWORD} ${btoa(secrets.MAIL_PASSWORD)}`
    return state.mood === "takes" ? null : state.mood === "busy" ? [450, repeated] : [550, repeated]
  }

  const variables: Readonly<Record<string, string>> = {
    ...secrets,
    SLACK_URL: `${http.url}/slack/services/${secrets.SLACK}`,
    DISCORD_URL: `${http.url}/discord/${secrets.DISCORD}`,
    TEAMS_URL: `${http.url}/teams?sig=${secrets.TEAMS}`
  }
  const read = readConfig(configFor(http.url, smtp.port), {
    path: "/etc/berth/watch.yml",
    variable: (name) => variables[name],
    file: () => ""
  })
  const config = Result.getOrThrow(read)
  const out = new PassThrough()
  const context = yield* Layer.build(Layer.provide(Sinks.layer(config.sinks, []), Stdout.layerOf(out)))
  const sinks = yield* Effect.provide(Sinks, context)
  yield* Effect.forkScoped(sinks.run)

  const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

  /** Waits until every receiver has had this many attempts in all, and the sinks have stored how these ended. */
  const settled = Effect.fnUntraced(function* (count: number) {
    for (let turns = 0; Array.from(attempts.values()).some((each) => each < count); turns++) {
      if (turns > maxTurns) throw new Error(JSON.stringify([Array.from(attempts), yield* sinks.status]))
      yield* turn
      yield* TestClock.adjust(0)
    }
    const idle = yield* Effect.forkChild(sinks.idle)
    // The clock moves slowly, so that no attempt runs into its time limit.
    for (let turns = 0; idle.pollUnsafe() === undefined; turns++) {
      if (turns > maxTurns) throw new Error(JSON.stringify(["idle", Array.from(attempts), yield* sinks.status]))
      yield* turn
      yield* TestClock.adjust("1 millis")
    }
    yield* Fiber.join(idle)
    expect(Array.from(attempts.values())).toEqual(names.map(() => count))
  })

  /** Moves the clock from one retry to the next, and lets each end before the clock moves on. */
  const retried = Effect.gen(function* () {
    const { deliveries } = yield* Store
    const due = yield* Effect.forEach(names, (name) =>
      Effect.map(deliveries(name, ["a"], 1), ([next]) => ({ name, next: next! }))
    )
    for (const { name, next } of due.toSorted((a, b) => a.next.dueMillis - b.next.dueMillis)) {
      yield* TestClock.setTime(next.dueMillis)
      const isOver = Effect.map(
        deliveries(name, ["a"], 1),
        ([left]) => left === undefined || left.attempt > next.attempt
      )
      for (let turns = 0; !(yield* isOver); turns++) {
        if (turns > maxTurns) throw new Error(`${name} was not tried again`)
        yield* turn
        yield* TestClock.adjust(0)
      }
    }
  })

  return { attempts, config, faults, retried, settled, sinks, state, taken }
})

const stuckAt = (atMillis: number, type: "berth.node.stuck" | "berth.node.unstuck"): EventFact => {
  const { data: found, identity, subject } = created(5, atMillis) as any
  const { observedBetween } = found
  const data = { status: "creating", since: observedBetween[0], after: aNode({ id: 5 }), observedBetween, sweep: null }
  return { identity: { ...identity, version: atMillis }, subject, atMillis, type, data } as unknown as EventFact
}

it.effect("seven kinds of receivers from one config are served alike", () =>
  Effect.gen(function* () {
    const { addSilence, commit } = yield* Store
    const owner = (yield* Effect.flatMap(Store, (store) => store.claim("a"))).owner
    const { config, faults, retried, settled, sinks, state, taken } = yield* start
    const shown: Array<unknown> = []
    const statuses = Effect.tap(sinks.status, (status) => Effect.sync(() => shown.push(status)))
    const takenEach = (count: number) =>
      expect(names.map((name) => [name, taken.get(name)!.length])).toEqual(names.map((name) => [name, count]))

    // A busy receiver gets the event again.
    state.mood = "busy"
    yield* commit(owner, { events: [changed(1, 1, "created", "running")] })
    yield* settled(1)
    expect((yield* statuses).map(({ state }) => state)).toEqual(names.map(() => "retrying"))
    state.mood = "takes"
    yield* TestClock.adjust("6 seconds")
    yield* settled(2)
    takenEach(1)

    // What ends an alert has the key of what began it.
    yield* commit(owner, { events: [stuckAt(2, "berth.node.stuck")] })
    yield* settled(3)
    yield* commit(owner, { events: [stuckAt(3, "berth.node.unstuck")] })
    yield* settled(4)
    const [begun, ended] = taken
      .get("pagerduty")!
      .slice(1)
      .map((request) => JSON.parse(request.slice(request.indexOf("{"))))
    expect([begun.event_action, ended.event_action, ended.dedup_key]).toEqual(["trigger", "resolve", begun.dedup_key])
    expect(taken.get("opsgenie")![2]).toContain("/close?")

    // A silence holds the event, and says so afterwards.
    yield* addSilence({
      id: "s",
      nodes: ["node-2"],
      accounts: [],
      sinks: [],
      fromMillis: 0,
      untilMillis: 60_000,
      reason: "new disks",
      atEnd: "deliver"
    })
    yield* commit(owner, { events: [deleted(2, 10_000)] })
    yield* settled(4)
    yield* TestClock.setTime(60_000)
    yield* settled(5)
    for (const name of names)
      expect([name, taken.get(name)!.at(-1)]).toEqual([name, expect.stringMatching(/new disks/)])

    // After ten refusals the event is a dead letter, which a person can have delivered.
    state.mood = "refuses"
    yield* commit(owner, { events: [deleted(3, 70_000)] })
    yield* settled(6)
    for (let attempt = 2; attempt <= 10; attempt++) {
      yield* retried
      yield* settled(5 + attempt)
    }
    const status = yield* statuses
    expect(status.map(({ dead, pending, state }) => [state, pending, dead])).toEqual(names.map(() => ["failing", 0, 1]))
    for (const { message, name } of status) {
      expect([name, message]).toEqual([name, expect.stringMatching(/^the (receiver|server) answered (400|422|550)/)])
    }
    for (const name of names) shown.push(yield* (yield* Store).deadLetters(name, 9))
    state.mood = "takes"
    yield* Effect.forEach(names, (name) => sinks.retry(name))
    yield* settled(16)
    takenEach(5)
    expect((yield* statuses).map(({ dead }) => dead)).toEqual(names.map(() => 0))

    // A replay repeats all five, and a mail keeps its id.
    yield* Effect.forEach(names, (name) => sinks.replay(name, beginning))
    yield* settled(21)
    takenEach(10)
    const ids = taken.get("mail")!.map((message) => /^Message-ID: (.*)$/m.exec(message)![1])
    expect(new Set(ids).size).toBe(5)

    expect(faults).toEqual([])
    expect(status.find(({ name }) => name === "mail")!.message).toBe(
      "the server answered 550 <redacted> <redacted> <redacted>"
    )
    const text = `${JSON.stringify([shown, config.sinks])}${inspect(shown, { depth: 9 })}`
    for (const secret of Object.values(secrets)) {
      for (const spelling of [secret, btoa(secret), encodeURIComponent(secret)]) expect(text).not.toContain(spelling)
    }
  }).pipe(Effect.provide(store), Effect.scoped)
)
