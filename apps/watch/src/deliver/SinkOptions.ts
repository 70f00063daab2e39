/**
 * What a sink is: where its events go, and which of them it gets. Plain data, which `config/` reads, and the pure choice of events.
 */
import type { Redacted } from "effect"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { eventTypes } from "../events/Event.ts"
import type { StoredEvent } from "../store/accounts.ts"

/** A pattern in which `*` stands for any text. */
type Glob = string

interface EventSelection {
  /** Empty: all. */
  readonly types: ReadonlyArray<Glob>
  /** Names of nodes; events about the account as a whole pass. Empty: all. */
  readonly nodes: ReadonlyArray<Glob>
  /** Names of accounts. Empty: all, and the daemon's own. */
  readonly accounts: ReadonlyArray<string>
}

/** `cloudevents` is the event itself; each other is a message for people. */
export const formats = ["cloudevents", "slack", "discord", "ntfy"] as const
export type Format = (typeof formats)[number]

export interface WebhookOptions {
  readonly _tag: "Webhook"
  /** Addresses of chats hold a secret. */
  readonly url: Redacted.Redacted<URL>
  /** Each signs, so that a receiver may change from one to the next. Empty: not signed. */
  readonly secrets: ReadonlyArray<Redacted.Redacted<Uint8Array>>
  /** Whether the receiver may have an address of a private network or of this machine. */
  readonly isPrivateAllowed: boolean
  readonly format: Format
  /** Further headers; each value may be a secret. */
  readonly headers: ReadonlyArray<Header>
}

/** The name is in lower case. */
export type Header = readonly [name: string, value: Redacted.Redacted]

export interface ExecOptions {
  readonly _tag: "Exec"
  /** Program and arguments, without a shell. */
  readonly command: readonly [string, ...Array<string>]
  readonly timeoutMillis: number
  /** Variables of the daemon's environment that the program gets beside the few that every program gets. */
  readonly variables: ReadonlyArray<string>
}

interface StdoutOptions {
  readonly _tag: "Stdout"
}

export interface SinkOptions {
  /** Its cursor in the store has this name. */
  readonly name: string
  readonly target: WebhookOptions | ExecOptions | StdoutOptions
  readonly selection: EventSelection
  /** What it gets when its name is first seen: the events from now on, or the nodes that exist before them. */
  readonly start: "now" | "baseline"
  /** How long a status has to hold before the change is delivered; 0: not at all. */
  readonly forMillis: number
  /** With more unread events than this the sink is disabled. */
  readonly maxLag: number
}

/** `*` stands for any text, everything else for itself; without backtracking, because patterns come from outside. */
export const matchesGlob = (glob: Glob, text: string): boolean => {
  const [first = "", ...rest] = glob.split("*")
  const last = rest.pop()
  if (last === undefined) return text === glob
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Why a pattern of types can select nothing; null where it selects something. */
export const typeProblem = (glob: Glob): string | null =>
  eventTypes.some((type) => matchesGlob(glob, type))
    ? null
    : `matches no type of event${didYouMean(nearest(glob, eventTypes).slice(0, 2)).replace(/\.$/, "")}`

/** The data of an event about a node, as far as filters and damping need it. */
interface NodeEventData {
  readonly before?: { readonly name?: string } | null
  readonly after?: { readonly name?: string } | null
  readonly from?: unknown
  readonly to?: unknown
}

export const dataOf = ({ body }: Pick<StoredEvent, "body">): NodeEventData => JSON.parse(body).data

const isAny = (globs: ReadonlyArray<Glob>, texts: ReadonlyArray<string>): boolean =>
  globs.length === 0 || globs.some((glob) => texts.some((text) => matchesGlob(glob, text)))

export const selectsAccount = ({ accounts }: EventSelection, account: string): boolean =>
  accounts.length === 0 || accounts.includes(account)

export const selects = (selection: EventSelection, event: StoredEvent): boolean => {
  const { nodes, types } = selection
  if (!selectsAccount(selection, event.account)) return false
  if (!isAny(types, [event.type])) return false
  if (event.node === null || nodes.length === 0) return true
  // A node that is renamed into or out of the pattern is of interest under both names.
  const { after, before } = dataOf(event)
  return isAny(
    nodes,
    [before?.name, after?.name].filter((name) => name !== undefined)
  )
}
