/** Serves the app on a socket. When it stops, it gives requests in flight a moment to finish before it cuts them off. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Scope } from "effect"
import { HttpServer } from "effect/http"
import type { Worlds } from "./world/Worlds.ts"
import { type AppOptions, makeApp } from "./app.ts"
import { clientOf } from "./transport/inProcess.ts"
import type { Timeouts } from "./transport/limits.ts"
import { makeNodeServer, type TlsIdentity } from "./transport/nodeServer.ts"

export interface ListenOptions extends AppOptions {
  /** The host name or address to listen on. The control plane may be used under this host name, too. */
  readonly host: string
  /** `0` picks a free port. */
  readonly port: number
  readonly timeouts: Timeouts
  /** The key and the certificate for HTTPS. Default: the server speaks HTTP. */
  readonly tls?: TlsIdentity | undefined
  /** Whether the process stays alive while the server listens. Default: true. */
  readonly keepsProcess?: boolean
}

/**
 * Listens until the scope closes. Returns the base URL, and a client that reaches the same service without the socket. Fails
 * with `ServeError` if the server cannot listen.
 */
export const listen = Effect.fnUntraced(function* (
  worlds: Worlds,
  { control, host, keepsProcess = true, port, timeouts, tls, ...options }: ListenOptions
) {
  // 0.0.0.0 and :: mean all addresses of the machine, so they add no host name. A name that resolves to one of these
  // addresses may belong to anyone, so it is allowed only if `control.hosts` lists it.
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
  // Closing first drains (with a time limit), then runs this, and then waits for the last connection (without a time limit).
  yield* Effect.addFinalizer(() => Effect.sync(() => node.server.closeAllConnections()))
  // Keep the context small, because every request copies it.
  const scope = yield* Effect.scope
  yield* Effect.setContext(server.serve(app.handle), Context.add(app.requestContext, Scope.Scope, scope))
  yield* Effect.addFinalizer(() => Effect.sync(node.closeIdle))
  const address = HttpServer.formatAddress(server.address)
  // A URL cannot name all addresses, so it names loopback, where programs on this machine reach the server.
  const reachable = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
  const url = tls === undefined ? reachable : reachable.replace(/^http:/, "https:")
  return { url, client: clientOf(app.handle, app.requestContext) }
})
