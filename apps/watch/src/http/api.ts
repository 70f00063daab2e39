/**
 * The endpoints below `/api`, and the stream of events. They translate between HTTP and the `Daemon`, and contain no rules.
 */
import { Clock, Context, DateTime, Effect, Layer, type Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import type { PublicUrl } from "../config/Config.ts"
import { Daemon, Refused } from "./Daemon.ts"
import { fail, orFailure } from "./failures.ts"
import { openSilences } from "./records.ts"
import { sessionOf, sessionSeconds } from "./session.ts"
import { makeStreams } from "./sse.ts"
import { type AttemptResult, tooManyAttempts } from "./TokenAttempts.ts"
import { WatchApi } from "./WatchApi.ts"

const status = HttpApiBuilder.group(WatchApi, "status", (handlers) =>
  Effect.gen(function* () {
    const daemon = yield* Daemon
    const startedAt = yield* DateTime.now
    return handlers
      .handle("read", () =>
        Effect.all({
          version: Effect.succeed(pkg.version),
          startedAt: Effect.succeed(startedAt),
          now: DateTime.now,
          cursor: daemon.cursor,
          troubles: daemon.troubles,
          accounts: daemon.accounts,
          processes: daemon.processes,
          sinks: daemon.sinks,
          silences: Effect.map(daemon.silences, openSilences)
        })
      )
      .handle("accounts", () => daemon.accounts)
      .handle("processes", () => daemon.processes)
  })
)

const nodes = HttpApiBuilder.group(WatchApi, "nodes", (handlers) =>
  Effect.map(Daemon, (daemon) =>
    handlers
      .handle("list", ({ query: { limit = 1000, ...query } }) => orFailure(daemon.nodes({ ...query, limit })))
      .handle("plans", () => daemon.plans)
  )
)

const cost = HttpApiBuilder.group(WatchApi, "cost", (handlers) =>
  Effect.map(Daemon, (daemon) =>
    handlers.handle("read", ({ query }) =>
      Effect.gen(function* () {
        const now = yield* DateTime.now
        return { now, accounts: yield* orFailure(daemon.costs(query, DateTime.toEpochMillis(now))) }
      })
    )
  )
)

const events = HttpApiBuilder.group(WatchApi, "events", (handlers) =>
  Effect.map(Daemon, (daemon) => {
    const streamOf = makeStreams()
    return handlers
      .handle("read", ({ query: { limit = 100, ...query } }) => orFailure(daemon.events({ ...query, limit })))
      .handle("follow", ({ headers, query: { after, ...filter } }) =>
        // A client that reconnects names its last event in the header, while its URL still has the cursor it started with.
        orFailure(streamOf(daemon, filter, headers["last-event-id"] ?? after))
      )
  })
)

const sinks = HttpApiBuilder.group(WatchApi, "sinks", (handlers) =>
  Effect.map(Daemon, (daemon) => {
    const after = Effect.fnUntraced(function* (name: string, change: Effect.Effect<void, Refused>) {
      yield* change
      const found = (yield* daemon.sinks).find(({ sink }) => sink === name)
      return found ?? (yield* new Refused({ kind: "unknown", message: `There is no sink ${name}.` }))
    }, orFailure)
    return handlers
      .handle("list", () => daemon.sinks)
      .handle("enable", ({ params: { sink } }) => after(sink, daemon.enable(sink)))
      .handle("retry", ({ params: { sink } }) => after(sink, daemon.retry(sink)))
      .handle("dead", ({ params, query: { limit = 100, ...query } }) =>
        orFailure(daemon.deadLetters(params.sink, { ...query, limit }))
      )
      .handle("revive", ({ params: { id, sink } }) => after(sink, daemon.revive(sink, id)))
      .handle("test", ({ params: { sink } }) => after(sink, daemon.test(sink)))
      .handle("remove", ({ params: { sink } }) => orFailure(daemon.remove(sink)))
      .handle("replay", ({ params: { sink }, payload }) =>
        after(sink, daemon.replay(sink, payload.after, payload.account))
      )
  })
)

const silences = HttpApiBuilder.group(WatchApi, "silences", (handlers) =>
  Effect.map(Daemon, (daemon) =>
    handlers
      .handle("list", () => Effect.map(daemon.silences, (all) => ({ silences: all })))
      .handle("add", ({ payload: { accounts = [], from, nodes = [], reason, sinks = [], then = "deliver", until } }) =>
        orFailure(
          daemon.addSilence({
            nodes,
            accounts,
            sinks,
            fromMillis: from === undefined ? null : DateTime.toEpochMillis(from),
            untilMillis: DateTime.toEpochMillis(until),
            reason,
            atEnd: then
          })
        )
      )
      .handle("end", ({ params: { silence }, payload }) => orFailure(daemon.endSilence(silence, payload.then)))
  )
)

/** How the daemon is reached, for endpoints that depend on it. */
export interface Entrance {
  /** The token that callers need; undefined if they need none. */
  readonly token: Redacted.Redacted | undefined
  readonly cookie: string
  /** The address that browsers use if there is a TLS proxy in front of the daemon. */
  readonly publicUrl?: PublicUrl | undefined
}

/** How one request reached the daemon. */
interface RequestEntrance extends Entrance {
  /** Whether the request came through the TLS proxy. */
  readonly isSecure: boolean
  /** Checks a token from the client of the request. */
  readonly attempt: (given: string) => Effect.Effect<AttemptResult>
}

/** How the current request reached the daemon. `app.ts` sets it. */
export const CurrentEntrance = Context.Reference<RequestEntrance>("@berthkit/watch/http/CurrentEntrance", {
  defaultValue: () => ({
    token: undefined,
    cookie: "berth_watch",
    isSecure: false,
    attempt: () => Effect.succeed("wrong" as const)
  })
})

/**
 * The cookie is `Secure` only behind TLS, because over plain HTTP a browser would not store it. If the daemon has its own path
 * behind a proxy, the cookie is limited to that path, so other programs on the same host do not get it.
 */
const cookieOptions = ({ isSecure, publicUrl }: RequestEntrance) =>
  ({
    httpOnly: true,
    sameSite: "strict",
    path: (isSecure && publicUrl?.path) || "/",
    ...(isSecure ? { secure: true } : {})
  }) as const

const session = HttpApiBuilder.group(WatchApi, "session", (handlers) =>
  handlers
    .handle("open", ({ payload }) =>
      Effect.gen(function* () {
        const entrance = yield* CurrentEntrance
        const { attempt, cookie, token } = entrance
        if (token === undefined) return HttpServerResponse.empty({ status: 204 })
        const result = yield* attempt(payload.token)
        if (result === "turnedAway") return yield* Effect.fail(fail(429, tooManyAttempts))
        if (result === "wrong") return yield* Effect.fail(fail(401, "This is not the token."))
        const value = sessionOf(token, yield* Clock.currentTimeMillis)
        return HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty({ status: 204 }), cookie, value, {
          ...cookieOptions(entrance),
          maxAge: `${sessionSeconds} seconds`
        })
      })
    )
    .handle("close", () =>
      Effect.map(CurrentEntrance, (entrance) =>
        HttpServerResponse.expireCookieUnsafe(
          HttpServerResponse.empty({ status: 204 }),
          entrance.cookie,
          cookieOptions(entrance)
        )
      )
    )
)

export const layer = Layer.mergeAll(status, nodes, cost, events, sinks, silences, session)
