/**
 * The app on a socket: starts listening, and on the way out lets requests in flight finish for a moment before it cuts them off.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Scope } from "effect"
import { HttpServer } from "effect/http"
import type { Worlds } from "./world/Worlds.ts"
import { type AppOptions, makeApp } from "./app.ts"
import { clientOf } from "./transport/inProcess.ts"
import type { Timeouts } from "./transport/limits.ts"
import { makeNodeServer, type TlsIdentity } from "./transport/nodeServer.ts"

export interface ListenOptions extends AppOptions {
  /** The control plane is served under this name, too. */
  readonly host: string
  /** `0` picks a free one. */
  readonly port: number
  readonly timeouts: Timeouts
  /** Serves HTTPS with this identity. Default: HTTP. */
  readonly tls?: TlsIdentity | undefined
  /** Whether the process goes on for as long as this listens. Default true. */
  readonly keepsProcess?: boolean
}

/**
 * Listens until the scope closes. Gives the base URL, and a client that reaches the same service without the socket. Fails with
 * `ServeError` when it cannot.
 */
export const listen = Effect.fnUntraced(function* (
  worlds: Worlds,
  { control, host, keepsProcess = true, port, timeouts, tls, ...options }: ListenOptions
) {
  // All addresses are no host: a name that leads to one of them may be anyone's.
  const hosts = [...(host === "0.0.0.0" || host === "::" ? [] : [host]), ...(control?.hosts ?? [])]
  const app = yield* makeApp(worlds, {
    ...options,
    control: { ...control, hosts, scheme: tls === undefined ? "http" : "https" }
  })
  const node = makeNodeServer(timeouts, app.reject, tls)
  const server = yield* NodeHttpServer.make(() => node.server, {
    host,
    port,
    ...(timeouts.drainMillis === 0
      ? { disablePreemptiveShutdown: true }
      : { gracefulShutdownTimeout: timeouts.drainMillis })
  })
  if (!keepsProcess) node.unref()
  // Runs between the draining, which is bounded, and the wait for the last connection, which is not.
  yield* Effect.addFinalizer(() => Effect.sync(() => node.server.closeAllConnections()))
  // Every request begins with a copy of the context that is served in.
  const scope = yield* Effect.scope
  yield* Effect.setContext(server.serve(app.handle), Context.add(app.requestContext, Scope.Scope, scope))
  yield* Effect.addFinalizer(() => Effect.sync(node.closeIdle))
  const address = HttpServer.formatAddress(server.address)
  // No host is called all addresses: the server is one of them to programs on its machine.
  const reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
  const url = tls === undefined ? reachable : reachable.replace(/^http:/, "https:")
  return { url, client: clientOf(app.handle, app.requestContext) }
})
