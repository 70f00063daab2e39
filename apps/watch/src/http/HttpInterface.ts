/**
 * The HTTP interface of a running daemon, as its config asks for it.
 */
import { Context, Effect, Layer, type Redacted } from "effect"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import type { Sinks } from "../deliver/Sinks.ts"
import type { Store } from "../store/Store.ts"
import type { Progress } from "../telemetry/Progress.ts"
import type { Troubles } from "../troubles/Troubles.ts"
import { type NotServed, serve } from "./serve.ts"
import { storeDaemon } from "./storeDaemon.ts"

export interface HttpOptions {
  /** Null: no HTTP. */
  readonly listen: { readonly host: string; readonly port: number } | null
  /** Null: only on loopback. */
  readonly token: Redacted.Redacted | null
  /** The origin that browsers see; null: the address of `listen`. */
  readonly publicOrigin: string | null
  readonly sinks: ReadonlyArray<SinkOptions>
}

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
