/**
 * The transport over `node:http` and `node:https`, which on Node needs the least CPU and starts fastest. Each module is loaded by the first
 * request that needs it.
 */
import type { Agent, AgentOptions, ClientRequest, IncomingMessage, RequestOptions } from "node:http"
import type { Socket } from "node:net"
import type { Readable } from "node:stream"
import type { TLSSocket } from "node:tls"
import { Effect, Layer, Scope } from "effect"
import { InvalidRequest, type Unreachable } from "../../domain/ErrorReason.ts"
import { builtin } from "../options/builtin.ts"
import { loopbackHosts } from "./loopback.ts"
import { codingOf, ReplyText } from "./ReplyText.ts"
import { type Head, type Leaving, type SignedRequest, Transport, unwrapped, type WireReply } from "./Transport.ts"
import { unreachable, unreached } from "./unreachable.ts"

/** An idle connection is closed after this time, because services close theirs after five seconds or more. */
const idleMillis = 4000

/** The common interface of `node:http` and `node:https`. */
interface Http {
  readonly Agent: new (options: AgentOptions) => Agent
  readonly request: typeof import("node:http").request
}

/** Joins repeated headers into one, as `fetch` does. */
const headOf = ({ headersDistinct, statusCode = 0 }: IncomingMessage): Head => {
  const headers: Record<string, string> = {}
  for (const name in headersDistinct) headers[name] = headersDistinct[name]!.join(", ")
  return { status: statusCode, headers }
}

/** The request before anything is sent. */
const made = ({ request: make }: Http, agent: Agent, request: SignedRequest): ClientRequest => {
  const { address, headers } = unwrapped(request)
  // Without `accept-encoding`, a body may come in any coding.
  const options: RequestOptions = {
    method: request.method,
    headers: { ...headers, "accept-encoding": "identity" },
    agent
  }
  return make(address, options)
}

const decoders = { gzip: "createGunzip", deflate: "createInflate", br: "createBrotliDecompress" } as const

/** The body as it was before a gateway compressed it. Its decompressed size has the same limit as any other body. */
const decoded = (incoming: IncomingMessage, headers: Head["headers"]): Readable => {
  const coding = codingOf(headers)
  const decoder = coding && builtin("node:zlib")?.[decoders[coding]]()
  if (decoder === undefined) return incoming
  incoming.on("error", (cause) => decoder.destroy(cause))
  return incoming.pipe(decoder)
}

/** Sends the request that `make` returns, and reads its reply. */
const exchanged = (make: () => ClientRequest, request: SignedRequest, begun: (head: Head) => void) =>
  Effect.callback<WireReply, Unreachable>((resume) => {
    const outgoing = make()
    let replied = false
    const fail = (cause: unknown) => resume(Effect.fail(unreachable(cause, replied)))
    outgoing.on("response", (incoming) => {
      replied = true
      const head = headOf(incoming)
      begun(head)
      const text = new ReplyText(head.headers, request.maxBodyBytes)
      const end = () => resume(Effect.succeed({ ...head, ...text.end() }))
      const body = decoded(incoming, head.headers)
      body.on("data", (chunk: Uint8Array) => {
        if (text.add(chunk)) return
        end()
        outgoing.destroy()
        body.destroy()
      })
      body.on("end", end)
      body.on("error", fail)
    })
    outgoing.on("error", fail)
    outgoing.on("upgrade", (_, socket) => {
      socket.destroy()
      fail(new Error("it changed the protocol unasked"))
    })
    outgoing.end(request.body)
    return Effect.sync(() => outgoing.destroy())
  })

/** Waits for the request's connection; nothing is sent before the request is ended. */
const connected = (outgoing: ClientRequest) =>
  Effect.callback<void, Unreachable>((resume) => {
    const stands = () => resume(Effect.void)
    outgoing.once("error", (cause) => resume(Effect.fail(unreached(cause))))
    outgoing.once(
      "socket",
      (socket: Socket & Partial<Pick<TLSSocket, "encrypted">> & { secureConnecting?: boolean }) => {
        if (socket.encrypted === true) {
          if (socket.secureConnecting === true) socket.once("secureConnect", stands)
          else stands()
        } else if (socket.connecting) socket.once("connect", stands)
        else stands()
      }
    )
  })

/** Like `exchanged`, but on a new connection. The connection is made before `leaving` runs, so if it fails, nothing was sent. */
const exchangedAlone = (
  outgoing: ClientRequest,
  request: SignedRequest,
  begun: (head: Head) => void,
  leaving: Leaving
): ReturnType<Transport["Service"]["send"]> => {
  let broken: unknown
  const breaks = (cause: unknown) => void (broken ??= cause)
  const replies = () => breaks(new Error("it replied before it was asked"))
  outgoing.on("error", breaks)
  outgoing.on("response", replies)
  return connected(outgoing).pipe(
    Effect.andThen(leaving),
    Effect.andThen(
      Effect.suspend((): Effect.Effect<WireReply, Unreachable> => {
        outgoing.off("response", replies)
        return broken === undefined ? exchanged(() => outgoing, request, begun) : Effect.fail(unreached(broken))
      })
    ),
    Effect.onError(() => Effect.sync(() => outgoing.destroy()))
  )
}

type Environment = Readonly<Record<string, string | undefined>>

const read = (environment: Environment, name: string): string | undefined =>
  (environment[name.toLowerCase()] ?? environment[name])?.trim() || undefined

/** An address without a scheme means HTTP, as in curl. Node ignores invalid values, so requests would bypass the proxy. */
const address = (environment: Environment, name: string): string | undefined => {
  const given = read(environment, name)
  if (given === undefined) return undefined
  const url = given.includes("://") ? given : `http://${given}`
  if (/^https?:/i.test(url) && URL.canParse(url)) return url
  // The value may contain a password.
  throw new Error(`${name} is not the address of an HTTP proxy`)
}

/**
 * The proxy settings of the environment, for an agent: `HTTP_PROXY` and `HTTPS_PROXY`, or `ALL_PROXY` for both, and `NO_PROXY`; variables
 * in lower case win. A service on this machine, such as a mock, is never reached through a proxy. Throws if a variable is not an address.
 *
 * @internal
 */
export const proxyVariables = (environment: Environment): Record<string, string | undefined> => ({
  HTTP_PROXY: address(environment, "HTTP_PROXY") ?? address(environment, "ALL_PROXY"),
  HTTPS_PROXY: address(environment, "HTTPS_PROXY") ?? address(environment, "ALL_PROXY"),
  NO_PROXY: [read(environment, "NO_PROXY") ?? [], loopbackHosts].flat().join(",")
})

/**
 * Makes an agent for the first request that needs it. `load` does not use `import`, because that reads every export of the module, and the
 * export `WebSocket` of `node:http` loads all of undici, which takes a quarter of the time of a short command.
 */
const agentOf = (load: () => Http) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const http = load()
        const proxyEnv = proxyVariables(process.env)
        return {
          http,
          agent: new http.Agent({ keepAlive: true, timeout: idleMillis, proxyEnv }),
          once: new http.Agent({ keepAlive: false, proxyEnv })
        }
      },
      catch: (cause) => new InvalidRequest({ status: null, detail: (cause as Error).message, fields: {} })
    }),
    ({ agent, once }) =>
      Effect.sync(() => {
        agent.destroy()
        once.destroy()
      })
  )

/** A transport over `node:http` and `node:https`. On Node it is the fastest. */
export const layer = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const plain = yield* Effect.cached(
      Effect.provideService(
        agentOf(() => builtin("node:http")!),
        Scope.Scope,
        scope
      )
    )
    const secure = yield* Effect.cached(
      Effect.provideService(
        agentOf(() => builtin("node:https")!),
        Scope.Scope,
        scope
      )
    )
    return Transport.of({
      send: (request, begun, leaving) =>
        Effect.flatMap(request.url.startsWith("https:") ? secure : plain, ({ agent, http, once }) =>
          leaving === undefined
            ? exchanged(() => made(http, agent, request), request, begun)
            : exchangedAlone(made(http, once, request), request, begun, leaving)
        )
    })
  })
)
