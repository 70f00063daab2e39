/**
 * A trial of admission: the real client, with any number of callers, against the mock service in this process and in virtual time. The
 * client is alone, or another program uses the same key. The outcome comes from the service's journal.
 */
import { Clock, Effect, Layer, Random, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { RuntimeTooOld } from "@berthkit/core/client/options/Runtime"
import type { InvalidOption } from "@berthkit/core/client/options/Settings"
import { inDialect, optionsOf } from "../../account.ts"

/** The allowance of the mock service. */
interface Allowance {
  readonly algorithm: NonNullable<NonNullable<TestServerOptions["rateLimit"]>["algorithm"]>
  readonly limit: number
  readonly windowMillis: number
}

export interface Trial {
  readonly allowance: Allowance
  /** Our clock minus the service's clock, in milliseconds. */
  readonly skewMillis: number
  /** How many of our calls run at the same time. */
  readonly callers: number
  /**
   * The other program on the key: none, another client of ours on a machine whose clock is right, or a program that sends a
   * quarter of the allowance in every window and ignores its replies.
   */
  readonly beside: "no other client" | "another client" | "a rude program"
  /** Duration in windows, 2 or more. The first window is the cold start. */
  readonly windows: number
  readonly seed: number
}

/** The outcome of a trial. The numbers of our client include those of the other client. */
export interface Outcome {
  /** Requests of clients, refused or not. */
  readonly requests: number
  /** The most 429s that one client got within the length of the first window, and the number that all clients got afterwards. */
  readonly refusedCold: number
  readonly refusedSteady: number
  /**
   * Requests granted in the whole trial, including those of the rude program, as a share of what the service grants in all windows of the
   * trial.
   */
  readonly used: number
  /**
   * Requests granted after the cold start, as a share of what the allowance grants in exactly that time. The service reports resets in
   * whole seconds, so the time between a reset and the first request after it counts as lost.
   */
  readonly pace: number
  /** The most requests of clients that were granted within one second after the cold start, as a share of the allowance. */
  readonly burst: number
}

/** The sender of a request is identified by the page size that it requests. */
const pageSize = { ours: 1, other: 2, rude: 3 } as const
const senders = ["ours", "other", "rude"] as const

/** On the service's clock, trials begin within the second after this instant. */
const epochMillis = 1_790_000_000_000

/** The bounds on the time that a request takes to the service, and that a reply takes back, in milliseconds. */
const minWayMillis = 5
const maxWayMillis = 45

/** Longer than any trial, so that no call times out. */
const deadline = "1000 days"

/** Reads a page again and again with several callers, on a machine with a wrong clock. */
const client = Effect.fnUntraced(function* (skewMillis: number, callers: number, perPage: number) {
  const account = yield* TestServer
  const right = yield* Clock.Clock
  const ask = Nodes.use((nodes) => nodes.listPage({ perPage, deadline }))
  yield* Effect.gen(function* () {
    const berth = yield* Layer.build(Berth.layer(optionsOf(account)))
    const caller = Effect.forever(Effect.ignore(Effect.provide(ask, berth)))
    for (let i = 0; i < callers; i++) yield* Effect.forkScoped(caller)
  }).pipe(Effect.provideService(Clock.Clock, off(right, skewMillis)))
})

/** The same clock, ahead by `skewMillis`. */
const off = (clock: Clock.Clock, skewMillis: number): Clock.Clock => ({
  ...clock,
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + skewMillis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (millis) => millis + skewMillis)
})

/** Sends a number of requests per window at uneven intervals, and ignores the replies. */
const rude = Effect.fnUntraced(function* (perWindow: number, windowMillis: number) {
  const { accessToken, apiKey, baseUrl } = yield* TestServer
  const http = yield* HttpClient.HttpClient
  const send = http.execute(
    HttpClientRequest.get(`${baseUrl}/myaccount/api/v1/nodes/`, {
      urlParams: { apikey: Redacted.value(apiKey), per_page: pageSize.rude },
      headers: { authorization: `Bearer ${Redacted.value(accessToken)}` }
    })
  )
  const pause = Effect.flatMap(Random.nextBetween(0.5, 1.5), (share) =>
    Effect.sleep(Math.round((share * windowMillis) / perWindow))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, send)))
})

/** A request in the journal. */
interface Sent {
  readonly at: number
  readonly refused: boolean
  readonly by: keyof typeof pageSize | undefined
}

/** Reads the journal while it fills, because it keeps at most a thousand requests. */
const reader = Effect.fnUntraced(function* () {
  const { control, id } = yield* TestServer
  const all: Array<Sent> = []
  let seen = 0
  const read = Effect.gen(function* () {
    const page = yield* Effect.orDie(control.requests.read({ params: { world: id }, query: { after: seen } }))
    if (page.count - seen !== page.requests.length)
      return yield* Effect.die(new Error("The journal has lost requests."))
    seen = page.count
    for (const { at, query, status } of page.requests) {
      all.push({
        at: Date.parse(at),
        refused: status === 429,
        by: senders.find((sender) => query["per_page"] === String(pageSize[sender]))
      })
    }
  })
  return { all, read }
})

/** Delays requests and replies on their way, and reads the journal before it is full. */
const wire = (carry: HttpClient.HttpClient, read: Effect.Effect<void>) => {
  const way = Effect.flatMap(Random.nextIntBetween(minWayMillis, maxWayMillis), Effect.sleep)
  let unread = 0
  return HttpClient.make((request) =>
    way.pipe(
      Effect.andThen(carry.execute(request)),
      Effect.tap(() => (++unread % 500 === 0 ? read : Effect.void)),
      Effect.tap(way)
    )
  )
}

/** Runs a trial for its number of windows and one more. */
export const run = ({
  allowance,
  beside,
  callers,
  seed,
  skewMillis,
  windows
}: Trial): Effect.Effect<Outcome, InvalidOption | RuntimeTooOld> =>
  Effect.gen(function* () {
    const { windowMillis } = allowance
    const { all, read } = yield* reader()
    yield* Effect.gen(function* () {
      yield* client(skewMillis, callers, pageSize.ours)
      if (beside === "another client") {
        yield* Effect.forkScoped(Effect.delay(client(0, callers, pageSize.other), 777))
      }
      if (beside === "a rude program") yield* rude(allowance.limit / 4, windowMillis)
      yield* TestClock.adjust((windows + 1) * windowMillis)
    }).pipe(
      Effect.scoped,
      Effect.provideServiceEffect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (carry) => wire(carry, read))
      )
    )
    yield* read
    return outcome(all, allowance, windows)
  }).pipe(
    Effect.provide(TestServer.layerHttpClient(inDialect({ clock: "real", rateLimit: forService(allowance) })), {
      local: true
    }),
    (trial) =>
      Effect.andThen(
        Effect.flatMap(Random.nextIntBetween(0, 1000), (millis) => TestClock.setTime(epochMillis + millis)),
        trial
      ),
    Effect.provide(TestClock.layer(), { local: true }),
    Random.withSeed(seed)
  )

const forService = ({ windowMillis, ...allowance }: Allowance): NonNullable<TestServerOptions["rateLimit"]> => ({
  ...allowance,
  window: windowMillis
})

const outcome = (all: ReadonlyArray<Sent>, { algorithm, limit, windowMillis }: Allowance, windows: number): Outcome => {
  const start = all[0]?.at ?? 0
  const steadyFrom = start + windowMillis
  const granted = all.filter(({ refused }) => !refused)
  const clients = all.filter(({ by }) => by !== "rude")
  const refused = clients.filter((sent) => sent.refused)
  // Counts from the beginning of one window to the beginning of another, so that no part of a window distorts the result.
  const from = granted.find(({ at }) => at >= steadyFrom)?.at ?? 0
  const until = granted.find(({ at }) => at >= start + windows * windowMillis)?.at ?? 0
  const within = granted.filter(({ at }) => at >= from && at < until)
  const ended = clients.filter((sent) => !sent.refused && sent.at >= steadyFrom)
  return {
    requests: clients.length,
    refusedCold: Math.max(
      ...senders.map((sender) => refused.filter(({ at, by }) => by === sender && at < steadyFrom).length)
    ),
    refusedSteady: refused.filter(({ at }) => at >= steadyFrom).length,
    // A bucket is full at the start and also fills while it is emptied.
    used: granted.length / (limit * (windows + (algorithm === "token-bucket" ? 2 : 1))),
    pace: (within.length * windowMillis) / ((until - from) * limit),
    burst: maxInASecond(ended.map(({ at }) => at)) / limit
  }
}

const maxInASecond = (instants: ReadonlyArray<number>): number => {
  let most = 0
  let first = 0
  for (const [last, instant] of instants.entries()) {
    while (instants[first]! <= instant - 1000) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}
