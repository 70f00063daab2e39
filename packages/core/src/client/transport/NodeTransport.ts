/**
 * The transport over `node:http` and `node:https` alone: what sends requests on Node for the least CPU and the shortest start.
 * Either is loaded by the first request that needs it.
 */
import type { Agent, AgentOptions, IncomingMessage, RequestOptions } from "node:http"
import { Effect, Layer, Scope } from "effect"
import { InvalidRequest } from "../../domain/ErrorReason.ts"
import { proxyVariables } from "./proxyVariables.ts"
import { ReplyText } from "./ReplyText.ts"
import { type Head, type SignedRequest, Transport, unreachable, type WireReply, unwrapped } from "./Transport.ts"

/** A connection that is idle for this long is closed: services close theirs after five seconds or more. */
const idleMillis = 4000

/** What `node:http` and `node:https` have in common. */
interface Http {
  readonly Agent: new (options: AgentOptions) => Agent
  readonly request: typeof import("node:http").request
}

/** Of a header that came more than once the values in one, as with `fetch`. */
const headOf = ({ headersDistinct, statusCode = 0 }: IncomingMessage): Head => {
  const headers: Record<string, string> = {}
  for (const name in headersDistinct) headers[name] = headersDistinct[name]!.join(", ")
  return { status: statusCode, headers }
}

const exchange = (
  { request: send }: Http,
  agent: Agent,
  request: SignedRequest,
  begun: (head: Head) => void
): ReturnType<Transport["Service"]["send"]> =>
  Effect.callback<WireReply, ReturnType<typeof unreachable>>((resume) => {
    const { address, headers } = unwrapped(request)
    let replied = false
    const fail = (cause: unknown) => resume(Effect.fail(unreachable(cause, replied)))
    // Or else a body may come in any coding.
    const options: RequestOptions = {
      method: request.method,
      headers: { ...headers, "accept-encoding": "identity" },
      agent
    }
    const outgoing = send(address, options, (incoming) => {
      replied = true
      const head = headOf(incoming)
      begun(head)
      const text = new ReplyText(head.headers, request.maxBodyBytes)
      const end = () => resume(Effect.succeed({ ...head, ...text.end() }))
      incoming.on("data", (chunk: Uint8Array) => {
        if (text.add(chunk)) return
        end()
        outgoing.destroy()
      })
      incoming.on("end", end)
      incoming.on("error", fail)
    })
    outgoing.on("error", fail)
    outgoing.on("upgrade", (_, socket) => {
      socket.destroy()
      fail(new Error("it changed the protocol unasked"))
    })
    outgoing.end(request.body)
    return Effect.sync(() => outgoing.destroy())
  })

/**
 * An agent for each of the two, made by the first request that needs it. Not by `import`: that reads every export of the module, and
 * `WebSocket` among those of `node:http` loads all of undici, a quarter of the time of a short command.
 */
const agentOf = (load: () => Http) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const http = load()
        const proxyEnv = proxyVariables(process.env)
        return { http, agent: new http.Agent({ keepAlive: true, timeout: idleMillis, proxyEnv }) }
      },
      catch: (cause) => new InvalidRequest({ status: null, detail: (cause as Error).message, fields: {} })
    }),
    ({ agent }) => Effect.sync(() => agent.destroy())
  )

export const layer = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const plain = yield* Effect.cached(
      Effect.provideService(
        agentOf(() => process.getBuiltinModule("node:http")),
        Scope.Scope,
        scope
      )
    )
    const secure = yield* Effect.cached(
      Effect.provideService(
        agentOf(() => process.getBuiltinModule("node:https")),
        Scope.Scope,
        scope
      )
    )
    return Transport.of({
      send: (request, begun) =>
        Effect.flatMap(request.url.startsWith("https:") ? secure : plain, ({ agent, http }) =>
          exchange(http, agent, request, begun)
        )
    })
  })
)
