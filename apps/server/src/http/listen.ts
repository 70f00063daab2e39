/**
 * The app on a socket: starts listening, and on the way out lets requests in flight finish before it cuts them off.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, type Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { Worlds } from "../world/Worlds.ts"
import { makeApp } from "./app.ts"
import type { Timeouts } from "./limits.ts"
import { makeNodeServer } from "./nodeServer.ts"

export interface ListenOptions {
  readonly host: string
  /** `0` picks a free one. */
  readonly port: number
  readonly timeouts: Timeouts
  /** What a request of the control plane has to show; without one, it needs nothing. */
  readonly controlToken?: Redacted.Redacted | undefined
}

/** Listens until the scope closes and gives the base URL. Fails with `ServeError` when it cannot. */
export const listen = Effect.fnUntraced(function* (
  worlds: Worlds,
  { controlToken, host, port, timeouts }: ListenOptions
) {
  const app = yield* makeApp(worlds, controlToken)
  const node = makeNodeServer(timeouts, app.reject)
  const server = yield* NodeHttpServer.make(() => node.server, {
    host,
    port,
    ...(timeouts.drainMs === 0 ? { disablePreemptiveShutdown: true } : { gracefulShutdownTimeout: timeouts.drainMs })
  })
  // Runs between the draining, which is bounded, and the wait for the last connection, which is not.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.server.closeAllConnections()))
  yield* server.serve(app.handle)
  yield* Effect.addFinalizer(() => Effect.sync(node.closeQuiet))
  return HttpServer.formatAddress(server.address)
})
