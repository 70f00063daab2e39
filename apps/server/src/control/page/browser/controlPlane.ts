/** How the page asks the control plane: with the token of its reader, within a time, and with refusals as errors. */
import { makeClient, Refused, type ReplyTo } from "@berthkit/web/components/client"
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

/** How long a request may take that makes a world anew, in milliseconds: a fleet of millions takes its time. */
export const maxMakingMillis = 120_000

/** A header carries ASCII alone: a token with anything else goes as it would in a URL, and is refused. */
export const keepToken = (token: string): void =>
  sessionStorage.setItem(tokenKey, /^[\x21-\x7e]+$/.test(token) ? token : encodeURIComponent(token))

/** Whether requests of this page show a token. What a link opens never does. */
export const hasToken = (): boolean => sessionStorage.getItem(tokenKey) !== null

const authorization = (): string | undefined => {
  const token = sessionStorage.getItem(tokenKey)
  return token === null ? undefined : `Bearer ${token}`
}

/** Forgets a token that was refused, unless another was typed in meanwhile. Gives whether there was one to refuse. */
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

/** What went wrong, for a person: the first sentence about a field, or the whole message. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Refused
    ? (Object.values(error.failure.errors ?? {}).flat()[0] ?? error.message)
    : "The server cannot be reached."

export interface Worlds {
  readonly living: ReadonlyArray<WorldSummary>
  /** Those whose journals are still kept, the one that ended last first. */
  readonly ended: ReadonlyArray<EndedWorld>
}

export const readWorlds = async (): Promise<Worlds> => {
  const [living, ended] = await Promise.all([control.ask("GET /_mock/worlds"), control.ask("GET /_mock/ended-worlds")])
  return { living, ended: ended.toReversed() }
}

/** All that is shown of a world that lives. */
export interface Living {
  readonly is: "living"
  readonly world: WorldSummary
  readonly nodes: ReadonlyArray<NodeView>
  readonly faults: ReadonlyArray<ArmedFault>
  readonly journal: JournalPage
}

/** What was read of a world. */
export type Seen =
  | Living
  /** `maxEntries`: how many were asked for. */
  | { readonly is: "ended"; readonly journal: JournalPage; readonly maxEntries: number }
  | { readonly is: "unknown"; readonly sentence?: string; readonly journal?: JournalPage | undefined }

interface Wanted {
  readonly maxEntries: number
  readonly pageSize: number
  /** What was read of this world last. */
  readonly seen: Seen | undefined
  readonly skip: number
  /** Those there were a moment ago. */
  readonly worlds: Worlds
}

/** Ids are put into paths: whatever else an address names is no world, and no part of a path either. */
const isWorldId = (id: string): boolean => /^[\w-]{1,64}$/.test(id)

/** Reads a world. An end is final, and is not read again except for more of its journal. */
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
 * Resolves when the stream about a world ends; `onSign` is called when something has happened there: a request to it, its end, or the end
 * of the server. The journal itself is read anew then, so that a slow page skips what it could not show.
 */
export const watchWorld = async (world: string, signal: AbortSignal, onSign: () => void): Promise<void> => {
  const stream = await control.open("GET /_mock/events", { query: { world }, signal })
  const reader = stream.body!.getReader()
  while (!(await reader.read()).done) onSign()
}
