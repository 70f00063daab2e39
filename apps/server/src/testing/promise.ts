/**
 * The service for tests without Effect. The methods of the server and its worlds return promises with plain values, and
 * reject with real `Error`s. The types are in `promise/Server.ts`.
 */
import "./promise/requireNode.ts"
import { inspect } from "node:util"
import { Clock, Effect, Exit, Result, Schema, Scope } from "effect"
import { HttpBody, type HttpClient, HttpClientRequest } from "effect/http"
import { scheduler } from "@berthkit/core/promise/scheduler"
import { controlPrefix } from "../control/ControlApi.ts"
import { invalidFields } from "../http/failures.ts"
import { listen } from "../listen.ts"
import type { Profile } from "@berthkit/profile/Profile"
import { settingsUnder } from "../profile/settingsUnder.ts"
import { fieldErrors } from "@berthkit/core/api/readFields"
import { defaultTimeouts } from "../transport/limits.ts"
import { begin } from "../world/scenario.ts"
import { settingsOf, WorldOptions as WorldOptionsSchema } from "../world/WorldOptions.ts"
import { defaults } from "../world/WorldSettings.ts"
import { Worlds } from "../world/Worlds.ts"
import type { JournalEntry, Verdict } from "./promise/ControlTypes.ts"
import { CallsDiffer, MockRefused, ServerClosed } from "./promise/errors.ts"
import type { ArmedFault, Server, ServerOptions, World, WorldOptions } from "./promise/Server.ts"
import { profileIn } from "./profileIn.ts"
import { jsonOf, objectOf, queryOf, textOf } from "./promise/json.ts"
import { explain, isRequest } from "./TestWorld.ts"

export type {
  Expectation,
  ExpectedCall,
  Fault,
  JournalEntry,
  NodeChange,
  NodeView,
  RateLimit,
  SavedImageOrder,
  SavedImageView,
  Verdict,
  WorldEvent,
  WorldSummary
} from "./promise/ControlTypes.ts"
export type { ArmedFault, JournalFilter, Snapshot } from "./promise/Server.ts"
export type { Server, ServerOptions, World, WorldOptions }
export { CallsDiffer, MockRefused, ServerClosed }

/** Sends a request to the control plane. `query` has the values as the caller wrote them, `body` is JSON. */
type Call = <A>(
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  input?: { readonly query?: object | undefined; readonly body?: string }
) => Promise<A>

const start = Effect.fnUntraced(function* (profile: Profile | undefined) {
  const realMillis = yield* Clock.currentTimeMillis
  const base = profile === undefined ? defaults : settingsUnder(profile, defaults, realMillis)
  const worlds = new Worlds(begin(settingsOf({ clock: "frozen" }, defaults.account, base), realMillis))
  worlds.base = base
  return yield* listen(worlds, {
    host: "127.0.0.1",
    port: 0,
    timeouts: { ...defaultTimeouts, drainMillis: 0 },
    // Do not check replies under a profile, because an observed service may deviate from the interface.
    checkReplies: profile === undefined,
    keepsProcess: false,
    profile
  })
})

const usableProfile = async (file: string): Promise<Profile> => {
  const read = await profileIn(file)
  if (Result.isSuccess(read)) return read.success
  throw new MockRefused(422, read.failure, { profile: [read.failure] })
}

/** Runs an effect with a separate scheduler, because the server must answer even while a test fakes the time. */
const run = <A, E>(effect: Effect.Effect<A, E>): Promise<A> => Effect.runPromise(effect, { scheduler })

/**
 * Starts the service on a free port of the loopback interface, in this process. The process may end without closing the
 * service. The time of a world is frozen until the test advances it. The options are the defaults for each world. Rejects
 * with `MockRefused` if an option is unknown or has an invalid value. Options that depend on others, such as the plans of
 * given nodes, are checked only when a world is made.
 */
export const startServer = async (all: ServerOptions = {}): Promise<Server> => {
  const { profile, ...options } = objectOf("the options of startServer", all)
  checkOptions(options)
  const observed = profile === undefined ? undefined : await usableProfile(profile)
  const scope = Scope.makeUnsafe()
  const { client, url: baseUrl } = await run(Scope.provide(start(observed), scope))
  const call = callsOf(client)
  let closing: Promise<void> | undefined
  const close = () => (closing ??= run(Scope.close(scope, Exit.void)))
  const callWhileOpen: Call = (method, path, input) =>
    closing === undefined ? call(method, path, input) : Promise.reject(new ServerClosed())
  return {
    baseUrl,
    makeWorld: async (own = {}) => {
      const all: WorldOptions = {
        clock: "frozen",
        ...given(options),
        ...given(objectOf("the options of makeWorld", own))
      }
      const body = jsonOf("the options of makeWorld", all)
      const made = await callWhileOpen<Pick<World, "id" | "apiKey" | "accessToken">>("POST", "/worlds", { body })
      return bindWorld(callWhileOpen, { baseUrl, ...made })
    },
    close,
    [Symbol.asyncDispose]: close
  }
}

/** The options without the undefined ones, so that those get their defaults. */
const given = <A extends object>(options: A): Partial<A> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<A>

const noCredentials = "Credentials belong to a single world: pass them to makeWorld."

const decodeOptions = Schema.decodeUnknownResult(WorldOptionsSchema, { errors: "all", onExcessProperty: "error" })

/** Rejects early what every world would reject. */
const checkOptions = (options: Omit<ServerOptions, "profile">): void => {
  const name = "the options of startServer"
  const json = jsonOf(name, objectOf(name, options))
  const credentials = ["apiKey", "accessToken"].filter((name) => Object.hasOwn(given(options), name))
  if (credentials.length > 0) {
    const errors = Object.fromEntries(credentials.map((name) => [name, [noCredentials]]))
    throw new MockRefused(422, noCredentials, errors)
  }
  const decoded = decodeOptions(JSON.parse(json))
  if (Result.isSuccess(decoded)) return
  const { errors, message } = invalidFields(fieldErrors(decoded.failure.issue, "whole"))
  throw new MockRefused(422, message, errors)
}

interface Refusal {
  readonly message: string
  readonly errors: Readonly<Record<string, ReadonlyArray<string>>>
}

/** Sends requests without a socket, so that a test that replaces `fetch` or `node:http` never sees them. */
const callsOf =
  (client: HttpClient.HttpClient): Call =>
  async <A>(...[method, path, { body, query = {} } = {}]: Parameters<Call>): Promise<A> => {
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    )
    const request = HttpClientRequest.make(method)(`http://localhost${controlPrefix}${path}?${search}`, {
      body: body === undefined ? HttpBody.empty : HttpBody.text(body, "application/json")
    })
    const { status, text } = await run(
      Effect.flatMap(client.execute(request), (reply) =>
        Effect.map(reply.text, (text) => ({ status: reply.status, text }))
      )
    )
    const value: unknown = text === "" ? undefined : JSON.parse(text)
    if (status < 400) return value as A
    const { errors, message } = value as Refusal
    throw new MockRefused(status, message, errors)
  }

const bindWorld = (
  call: Call,
  { accessToken, apiKey, baseUrl, id }: Pick<World, "id" | "baseUrl" | "apiKey" | "accessToken">
): World => {
  const path = `/worlds/${id}`
  const clock = (change: object) =>
    call<{ readonly now: string; readonly events?: Awaited<ReturnType<World["advanceToNextEvent"]>> }>(
      "POST",
      `${path}/clock`,
      { body: jsonOf("the change of the clock", change) }
    )
  const requests = (query: object = {}) =>
    call<{ readonly seed: number; readonly requests: ReadonlyArray<JournalEntry> }>("GET", `${path}/requests`, {
      query
    })
  const faults = () => call<ReadonlyArray<ArmedFault>>("GET", `${path}/faults`)
  const close = () => call<void>("DELETE", path).catch(ignoreEnded)
  const world = {
    id,
    baseUrl,
    apiKey,
    accessToken,
    connection: { baseUrl, apiKey, accessToken },
    now: async () => new Date((await call<{ readonly now: string }>("GET", `${path}/clock`)).now),
    advance: async (by) =>
      new Date((await clock({ advance: textOf("the duration of advance", "10 seconds", by) })).now),
    advanceTo: async (instant) => {
      const text = instant instanceof Date ? instant.toISOString() : instant
      return new Date(
        (await clock({ advanceTo: textOf("the instant of advanceTo", "2026-01-01T00:00:00Z", text) })).now
      )
    },
    advanceToNextEvent: async () => (await clock({ advanceTo: "next-event" })).events ?? [],
    setClock: async (mode) => new Date((await clock({ mode: textOf("the mode of setClock", "x60", mode) })).now),
    setRateLimit: async (rateLimit) => {
      const json = bodyOf("the rate limit of setRateLimit", rateLimit)
      return call("PATCH", path, { body: `{"rateLimit":${json}}` })
    },
    arm: async (armed) => {
      if (!Array.isArray(armed)) throw new TypeError("Expected the faults of arm to be a list.")
      await call("PUT", `${path}/faults`, { body: jsonOf("the faults of arm", armed) })
    },
    armAlso: async (fault) => call("POST", `${path}/faults`, { body: bodyOf("the fault of armAlso", fault) }),
    disarm: (id) => call("DELETE", `${path}/faults${id === undefined ? "" : `/${encodeURIComponent(id)}`}`),
    faults,
    journal: async (filter) => (await requests(queryOf("the filter of journal", filter))).requests.filter(isRequest),
    forget: () => call("DELETE", `${path}/requests`),
    verify: async (expectation) => {
      const body = bodyOf("the expectation of verify", expectation)
      const verdict = await call<Verdict>("POST", `${path}/requests/verify`, { body })
      if (!verdict.ok) throw new CallsDiffer(verdict)
    },
    explain: async () => {
      const [page, armed] = await Promise.all([requests(), faults().catch(ignoreEnded)])
      return explain(id, page.seed, armed, page.requests)
    },
    nodes: async (page) => call("GET", `${path}/nodes`, { query: queryOf("the page of nodes", page) }),
    forceNode: async (node, change) => {
      if (!Number.isSafeInteger(node)) throw new TypeError("Expected the id of forceNode to be a whole number.")
      return call("PATCH", `${path}/nodes/${node}`, { body: bodyOf("the change of forceNode", change) })
    },
    saveImage: async (order) => call("POST", `${path}/saved-images`, { body: bodyOf("the order of saveImage", order) }),
    summary: () => call("GET", path),
    snapshot: () => call("GET", `${path}/snapshot`),
    restore: async (snapshot) =>
      void (await call("PUT", `${path}/snapshot`, { body: bodyOf("the snapshot of restore", snapshot) })),
    reset: async () => void (await call("POST", `${path}/reset`)),
    close,
    [Symbol.asyncDispose]: close
  } satisfies World
  const redacted = { baseUrl, apiKey: "<redacted>", accessToken: "<redacted>" }
  const shown = () => ({ ...world, ...redacted, connection: redacted })
  return Object.defineProperties(world, { toJSON: { value: shown }, [inspect.custom]: { value: shown } })
}

/** The JSON of a required argument. */
const bodyOf = (name: string, value: object): string => jsonOf(name, objectOf(name, value ?? null))

/**
 * Ignores the error if the world has ended or its server is closed, because the world then has no faults and need not
 * end again.
 */
const ignoreEnded = (error: unknown): undefined => {
  if (error instanceof ServerClosed || (error instanceof MockRefused && error.status === 404)) return undefined
  throw error
}
