/** The page's client of the control plane. It sends the reader's token, and its requests have a timeout. */
import { makeClient, type Prepared, Refused, type ReplyTo } from "@berthkit/web/components/client"
import { quoted } from "@berthkit/terminal/quoted"
import type { ControlApi } from "../../ControlApi.ts"

type Api = typeof ControlApi

export type WorldSummary = ReplyTo<Api, "GET /_mock/worlds/:world">
type EndedWorld = ReplyTo<Api, "GET /_mock/ended-worlds">[number]
export type NodeView = ReplyTo<Api, "GET /_mock/worlds/:world/nodes">[number]
export type ArmedFault = ReplyTo<Api, "GET /_mock/worlds/:world/faults">[number]
export type JournalPage = ReplyTo<Api, "GET /_mock/worlds/:world/requests">
export type JournalEntry = JournalPage["requests"][number]
export type WorldMade = ReplyTo<Api, "POST /_mock/worlds">

const tokenKey = "berth-control-token"

/** Timeout of a request that makes a world, in milliseconds. A world with a fleet of millions takes a while. */
export const maxMakingMillis = 120_000

/**
 * Keeps the token that the reader has typed. A header holds only ASCII, so a token with other characters is percent-encoded;
 * the server refuses it.
 */
export const keepToken = (token: string): void =>
  sessionStorage.setItem(tokenKey, /^[\x21-\x7e]+$/.test(token) ? token : encodeURIComponent(token))

/** Whether requests of this page send a token. Links never do. */
export const hasToken = (): boolean => sessionStorage.getItem(tokenKey) !== null

const authorization = (): string | undefined => {
  const token = sessionStorage.getItem(tokenKey)
  return token === null ? undefined : `Bearer ${token}`
}

/**
 * Forgets a refused token, unless the reader has typed another one in the meantime. Returns whether the refused request had
 * a token.
 */
export const forgetToken = ({ sent }: Refused): boolean => {
  if (authorization() === sent["authorization"]) sessionStorage.removeItem(tokenKey)
  return sent["authorization"] !== undefined
}

export const control = makeClient<Api>({
  maxMillis: 10_000,
  headers: () => {
    const shown = authorization()
    return shown === undefined ? {} : { authorization: shown }
  }
})

/** The command that sends the same request. It takes the token from the variable that `berth-server` reads, too. */
export const commandOf = ({ method, path, payload }: Prepared<unknown>): string =>
  [
    "curl",
    ...(method === (payload === undefined ? "GET" : "POST") ? [] : ["-X", method]),
    ...(hasToken() ? ['-H "authorization: Bearer $BERTH_CONTROL_TOKEN"'] : []),
    ...(payload === undefined ? [] : ["-H 'content-type: application/json' -d", quoted(JSON.stringify(payload))]),
    quoted(location.origin + path)
  ].join(" ")

/** The sentence about an error for a person: the first one about a field, otherwise the message. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Refused
    ? (Object.values(error.failure.errors ?? {}).flat()[0] ?? error.message)
    : "The server cannot be reached."

export interface Worlds {
  readonly living: ReadonlyArray<WorldSummary>
  /** Ended worlds whose journals are still kept, the latest first. */
  readonly ended: ReadonlyArray<EndedWorld>
}

export const readWorlds = async (): Promise<Worlds> => {
  const [living, ended] = await Promise.all([control.ask("GET /_mock/worlds"), control.ask("GET /_mock/ended-worlds")])
  return { living, ended: ended.toReversed() }
}

/** All data that the page shows about a running world. */
export interface Living {
  readonly is: "living"
  readonly world: WorldSummary
  readonly nodes: ReadonlyArray<NodeView>
  readonly faults: ReadonlyArray<ArmedFault>
  readonly journal: JournalPage
}

/** The data that the page has read last about a world. */
export type Seen =
  | Living
  /** `maxEntries` is the number of entries that the page requested. */
  | { readonly is: "ended"; readonly journal: JournalPage; readonly maxEntries: number }
  | { readonly is: "unknown"; readonly sentence?: string; readonly journal?: JournalPage | undefined }

interface Wanted {
  readonly maxEntries: number
  readonly pageSize: number
  /** The data that the page has read last about this world. */
  readonly seen: Seen | undefined
  readonly skip: number
  /** The list of worlds, as the page has read it last. */
  readonly worlds: Worlds
}

/**
 * Whether a string is the id of a world. Ids become part of paths, so the page rejects everything else that an address may
 * hold.
 */
const isWorldId = (id: string): boolean => /^[\w-]{1,64}$/.test(id)

/** Reads a world. An ended world no longer changes, so the page reads it again only for more of its journal. */
export const readWorld = async (id: string, { maxEntries, pageSize, seen, skip, worlds }: Wanted): Promise<Seen> => {
  const isOneOf = (list: ReadonlyArray<{ readonly id: string }>) => list.some((world) => world.id === id)
  const isLiving = isOneOf(worlds.living)
  if (!isLiving && seen?.is === "ended" && seen.maxEntries >= maxEntries) return seen
  if (!isLiving && seen?.is === "unknown" && !isOneOf(worlds.ended)) return seen
  if (!isWorldId(id)) return { is: "unknown" }
  const params = { world: id }
  try {
    const journal = await control.ask("GET /_mock/worlds/:world/requests", { params, query: { limit: maxEntries } })
    if (journal.ended !== undefined) return { is: "ended", journal, maxEntries }
    const [world, nodes, faults] = await Promise.all([
      control.ask("GET /_mock/worlds/:world", { params }),
      control.ask("GET /_mock/worlds/:world/nodes", { params, query: { skip, count: pageSize } }),
      control.ask("GET /_mock/worlds/:world/faults", { params })
    ])
    return { is: "living", world, nodes, faults, journal }
  } catch (error) {
    if (!(error instanceof Refused && error.status === 404)) throw error
    return { is: "unknown", sentence: sentenceOf(error) }
  }
}

/**
 * Follows a world, and resolves when the world's stream ends. `onSign` is called whenever the stream brings something: a
 * request, the end of the world, a sign of life. The page then reads the journal again, so a slow page skips what it had no
 * time to show.
 */
export const watchWorld = async (world: string, signal: AbortSignal, onSign: () => void): Promise<void> => {
  const stream = await control.open("GET /_mock/events", { query: { world }, signal })
  const reader = stream.body!.getReader()
  while (!(await reader.read()).done) onSign()
}
