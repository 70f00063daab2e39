/**
 * Serves the HTTP interface of a running daemon on a socket, as its config says. On loopback it needs no token; on any other
 * address it does. On shutdown, streams end at once, so that clients reconnect to the next daemon; other requests get a moment
 * to finish.
 */
import { createServer, type Server, type ServerResponse } from "node:http"
import { isLoopbackName, readHostName } from "@berthkit/web/guard"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Data, Effect, Layer, type Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { PublicUrl, WatchConfig } from "../config/Config.ts"
import type { Sinks } from "../deliver/Sinks.ts"
import type { Store } from "../store/Store.ts"
import type { Progress } from "../telemetry/Progress.ts"
import type { Troubles } from "../troubles/Troubles.ts"
import { makeApp, withoutPath } from "./app.ts"
import { storeDaemon } from "./storeDaemon.ts"

interface ServeOptions {
  readonly host: string
  /** `0` picks a free port. */
  readonly port: number
  readonly token?: Redacted.Redacted | undefined
  /** The address that browsers use if there is a TLS proxy in front of the daemon. */
  readonly publicUrl?: PublicUrl | undefined
}

/** The daemon cannot listen: the address is taken, does not belong to this machine, or would be open to anyone. */
export class NotServed extends Data.TaggedError("NotServed")<{ readonly message: string; readonly hint: string }> {}

/**
 * A connection is cut after this long without a byte in either direction. Streams are not affected, because they send something
 * every 15 s.
 */
const idleMillis = 60_000
const headersMillis = 10_000
const requestMillis = 30_000
const maxConnections = 500
const drainMillis = 1000

/** Returns a function that cuts the connections with streams, which would never end by themselves. */
const trackStreams = (server: Server, publicPath: string): (() => void) => {
  const streams = new Set<ServerResponse>()
  server.on("request", ({ url = "" }, response) => {
    if (withoutPath(url, publicPath).split("?", 1)[0] !== "/events") return
    streams.add(response)
    response.once("close", () => streams.delete(response))
  })
  return () => {
    for (const response of streams) response.destroy()
  }
}

const makeServer = (): Server => {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: headersMillis,
    requestTimeout: requestMillis,
    keepAliveTimeout: 5000
  })
  server.maxConnections = maxConnections
  return server.setTimeout(idleMillis)
}

/**
 * Whether the daemon listens on all addresses. Then no host name is known to be its own, because anyone can let a name point to
 * one of the machine's addresses.
 */
const isEvery = (host: string): boolean => host === "0.0.0.0" || host === "::"

/** Serves until the scope closes. Returns the URL. */
export const serve = Effect.fnUntraced(function* ({ host, port, publicUrl, token }: ServeOptions) {
  const name = readHostName(host)
  if (token === undefined && (name === undefined || !isLoopbackName(name))) {
    return yield* new NotServed({
      message: `listen: ${host} is reachable from other machines, but no token is set.`,
      hint: "Set token: { env: BERTH_WATCH_TOKEN }, or listen on 127.0.0.1."
    })
  }
  const hosts = isEvery(host) || name === undefined ? [] : [name]
  const app = yield* makeApp({ token, hosts, publicUrl, cookie: `berth_watch_${port}` })
  const node = makeServer()
  const cutStreams = trackStreams(node, publicUrl?.path ?? "")
  const server = yield* NodeHttpServer.make(() => node, { host, port, gracefulShutdownTimeout: drainMillis }).pipe(
    Effect.mapError(({ cause }) => {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
      return code === "EADDRINUSE"
        ? new NotServed({
            message: `listen: ${host}:${port} is taken.`,
            hint: "Set listen to another port, or to off."
          })
        : new NotServed({ message: `listen: ${host}:${port} cannot be opened (${code}).`, hint: "Check listen." })
    })
  )
  // The server waits for its last connection without a time limit. This closes all connections first, but only after the
  // draining, which has a time limit.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.closeAllConnections()))
  yield* server.serve(app)
  yield* Effect.addFinalizer(() => Effect.sync(cutStreams))
  return HttpServer.formatAddress(server.address)
})

/** The options of the interface. Without a token it is served on loopback only. */
export type HttpOptions = Pick<WatchConfig, "listen" | "token" | "publicUrl" | "sinks">

export class HttpInterface extends Context.Service<
  HttpInterface,
  {
    /** The address; null if HTTP is off. */
    readonly url: string | null
  }
>()("@berthkit/watch/http/HttpInterface") {
  static readonly layer = ({
    listen,
    publicUrl,
    sinks,
    token
  }: HttpOptions): Layer.Layer<HttpInterface, NotServed, Store | Sinks | Progress | Troubles> =>
    listen === null
      ? Layer.succeed(HttpInterface, { url: null })
      : Layer.effect(
          HttpInterface,
          Effect.map(serve({ ...listen, token: token ?? undefined, publicUrl: publicUrl ?? undefined }), (url) => ({
            url
          }))
        ).pipe(Layer.provide(storeDaemon(sinks)))
}
