/**
 * The HTTP interface of a running daemon, as its config asks for it.
 */
import { Context, Effect, Layer } from "effect"
import type { WatchConfig } from "../config/Config.ts"
import type { Sinks } from "../deliver/Sinks.ts"
import type { Store } from "../store/Store.ts"
import type { Progress } from "../telemetry/Progress.ts"
import type { Troubles } from "../troubles/Troubles.ts"
import { type NotServed, serve } from "./serve.ts"
import { storeDaemon } from "./storeDaemon.ts"

/** Without a token it is served on loopback alone. */
export type HttpOptions = Pick<WatchConfig, "listen" | "token" | "publicOrigin" | "sinks">

export class HttpInterface extends Context.Service<
  HttpInterface,
  {
    /** Null where there is none. */
    readonly url: string | null
  }
>()("@berthkit/watch/http/HttpInterface") {
  static readonly layer = ({
    listen,
    publicOrigin,
    sinks,
    token
  }: HttpOptions): Layer.Layer<HttpInterface, NotServed, Store | Sinks | Progress | Troubles> =>
    listen === null
      ? Layer.succeed(HttpInterface, { url: null })
      : Layer.effect(
          HttpInterface,
          Effect.map(
            serve({ ...listen, token: token ?? undefined, publicOrigin: publicOrigin ?? undefined }),
            (url) => ({ url })
          )
        ).pipe(Layer.provide(storeDaemon(sinks)))
}
