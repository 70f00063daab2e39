/**
 * The endpoints below `/api`, and the stream of events: they translate between the wire and the `Daemon`, and decide nothing.
 */
import { Clock, Context, DateTime, Effect, Layer, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import { Daemon, Refused } from "./Daemon.ts"
import { fail } from "./failures.ts"
import { isSameSecret, sessionOf, sessionSeconds } from "./session.ts"
import { makeStreams } from "./sse.ts"
import { WatchApi } from "./WatchApi.ts"

const failureOf = ({ kind, message }: Refused) => {
  switch (kind) {
    case "invalid":
      return fail(400, message)
    case "unknown":
      return fail(404, message)
    case "gone":
      return fail(410, message)
    case "busy":
      return fail(503, message)
  }
}

const orFailure = Effect.mapError(failureOf)

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
          sinks: daemon.sinks
        })
      )
      .handle("accounts", () => daemon.accounts)
  })
)

const nodes = HttpApiBuilder.group(WatchApi, "nodes", (handlers) =>
  Effect.map(Daemon, (daemon) =>
    handlers
      .handle("list", ({ query: { limit = 1000, ...query } }) => orFailure(daemon.nodes({ ...query, limit })))
      .handle("plans", () => daemon.plans)
  )
)

const events = HttpApiBuilder.group(WatchApi, "events", (handlers) =>
  Effect.map(Daemon, (daemon) => {
    const streamOf = makeStreams()
    return handlers
      .handle("read", ({ query: { limit = 100, ...query } }) => orFailure(daemon.events({ ...query, limit })))
      .handle("follow", ({ headers, query: { after, ...filter } }) =>
        // A client that comes back names the last event that it has; its address still names the first.
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
      .handle("test", ({ params: { sink } }) => after(sink, daemon.test(sink)))
      .handle("remove", ({ params: { sink } }) => orFailure(daemon.remove(sink)))
      .handle("replay", ({ params: { sink }, payload }) => after(sink, daemon.replay(sink, payload.after)))
  })
)

/** How the daemon is reached, for what its endpoints do about it. */
export interface Entrance {
  /** What a caller has to show; without one, nothing. */
  readonly token: Redacted.Redacted | undefined
  readonly cookie: string
}

/** Set by `app.ts`. */
export const CurrentEntrance = Context.Reference<Entrance>("@berth/watch/http/CurrentEntrance", {
  defaultValue: () => ({ token: undefined, cookie: "berth_watch" })
})

/** Not `Secure`: the daemon speaks plain HTTP, TLS is a proxy's. */
const cookieOptions = { httpOnly: true, sameSite: "strict", path: "/" } as const

const session = HttpApiBuilder.group(WatchApi, "session", (handlers) =>
  handlers
    .handle("open", ({ payload }) =>
      Effect.gen(function* () {
        const { cookie, token } = yield* CurrentEntrance
        if (token === undefined) return HttpServerResponse.empty({ status: 204 })
        if (!isSameSecret(payload.token, Redacted.value(token)))
          return yield* Effect.fail(fail(401, "This is not the token."))
        const value = sessionOf(token, yield* Clock.currentTimeMillis)
        return HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty({ status: 204 }), cookie, value, {
          ...cookieOptions,
          maxAge: `${sessionSeconds} seconds`
        })
      })
    )
    .handle("close", () =>
      Effect.map(CurrentEntrance, ({ cookie }) =>
        HttpServerResponse.expireCookieUnsafe(HttpServerResponse.empty({ status: 204 }), cookie, cookieOptions)
      )
    )
)

export const layer = Layer.mergeAll(status, nodes, events, sinks, session)
