/**
 * The options of a sink (a receiver of events): its target, and which events it gets. `config/` reads them. The selection of
 * events is here as well. Pure.
 */
import type { Redacted } from "effect"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import type { Cause } from "../diff/Cause.ts"
import { eventTypes } from "../events/Event.ts"
import type { StoredEvent } from "../store/accounts.ts"
import type { Mailbox } from "./mail/mailboxes.ts"
import type { Render } from "./template/Template.ts"

/** A pattern in which `*` matches any text. */
type Glob = string

interface EventSelection {
  /** Empty: all. */
  readonly types: ReadonlyArray<Glob>
  /** Patterns of node names; events about the account as a whole always pass. Empty: all. */
  readonly nodes: ReadonlyArray<Glob>
  /** Causes of deletions; all other events always pass. Empty: all. */
  readonly causes: ReadonlyArray<Cause>
  /** Names of accounts. Empty: all, and the daemon's own events. */
  readonly accounts: ReadonlyArray<string>
}

/** `cloudevents` is the event itself. `pagerduty` and `opsgenie` are alerts. Every other format is a message for people. */
export const formats = ["cloudevents", "slack", "discord", "teams", "ntfy", "pagerduty", "opsgenie"] as const
export type Format = (typeof formats)[number]

/** Whether a format needs the receiver's own key in addition to the address. */
export const needsKey = (format: Format): boolean => format === "pagerduty" || format === "opsgenie"

export interface WebhookOptions {
  readonly _tag: "Webhook"
  /** Addresses of chats contain a secret. */
  readonly url: Redacted.Redacted<URL>
  /** Each secret adds a signature, which lets a receiver rotate secrets. Empty: unsigned. */
  readonly secrets: ReadonlyArray<Redacted.Redacted<Uint8Array>>
  /** Whether the receiver may have an address in a private network or on this machine. */
  readonly isPrivateAllowed: boolean
  readonly format: Format
  /** The key of the receiver's API: PagerDuty's routing key, or Opsgenie's API key; null for the other formats. */
  readonly key: Redacted.Redacted | null
  /** Additional headers; each value may be secret. */
  readonly headers: ReadonlyArray<Header>
  /** The user's own body, with its content type; null: the body of the format. */
  readonly template: { readonly contentType: string; readonly render: Render } | null
}

/** The name is in lower case. */
export type Header = readonly [name: string, value: Redacted.Redacted]

/**
 * How the connection to a mail server is encrypted: after a command (STARTTLS, which the server must then offer), from its
 * beginning, or not at all.
 */
export const mailTls = ["starttls", "implicit", "none"] as const
export type MailTls = (typeof mailTls)[number]

export interface MailOptions {
  readonly _tag: "Mail"
  /** A name or an address. */
  readonly host: string
  readonly port: number
  readonly tls: MailTls
  /** Null: no login. */
  readonly login: { readonly user: Redacted.Redacted; readonly password: Redacted.Redacted } | null
  readonly from: Mailbox
  /** At least one. */
  readonly to: ReadonlyArray<Mailbox>
  /** Whether the server may have an address in a private network or on this machine. */
  readonly isPrivateAllowed: boolean
  /** The user's own subject and text; null: a sentence. */
  readonly subject: Render | null
  readonly template: Render | null
}

export interface ExecOptions {
  readonly _tag: "Exec"
  /** Program and arguments, without a shell. */
  readonly command: readonly [string, ...Array<string>]
  readonly timeoutMillis: number
  /** Names of additional environment variables that the program gets. Every program gets a few, such as `PATH`. */
  readonly variables: ReadonlyArray<string>
}

interface StdoutOptions {
  readonly _tag: "Stdout"
}

export interface SinkOptions {
  /** The sink's name. Its cursor in the store has the same name. */
  readonly name: string
  readonly target: WebhookOptions | MailOptions | ExecOptions | StdoutOptions
  readonly selection: EventSelection
  /** What a new sink gets: only new events, or first the existing nodes. */
  readonly start: "now" | "baseline"
  /** How long a status must last before the change is delivered; 0: deliver at once. */
  readonly forMillis: number
  /** The sink is disabled if it has more unread events than this. */
  readonly maxLag: number
}

/**
 * Whether a string matches a pattern, in which only `*` is special. Does not backtrack, because a malicious pattern
 * could make backtracking slow.
 */
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

/** Why a pattern of types can match nothing; null if it can. */
export const typeProblem = (glob: Glob): string | null =>
  eventTypes.some((type) => matchesGlob(glob, type))
    ? null
    : `matches no type of event${didYouMean(nearest(glob, eventTypes).slice(0, 2)).replace(/\.$/, "")}`

/** The parts of an event's data that the selection and flap damping use. */
interface NodeEventData {
  readonly before?: { readonly name?: string } | null
  readonly after?: { readonly name?: string } | null
  readonly from?: unknown
  readonly to?: unknown
  readonly cause?: Cause
}

export const dataOf = ({ body }: Pick<StoredEvent, "body">): NodeEventData => JSON.parse(body).data

const isAny = (globs: ReadonlyArray<Glob>, texts: ReadonlyArray<string>): boolean =>
  globs.length === 0 || globs.some((glob) => texts.some((text) => matchesGlob(glob, text)))

export const selectsAccount = ({ accounts }: EventSelection, account: string): boolean =>
  accounts.length === 0 || accounts.includes(account)

export const selects = (selection: EventSelection, event: StoredEvent): boolean => {
  const { causes, nodes, types } = selection
  if (!selectsAccount(selection, event.account)) return false
  if (!isAny(types, [event.type])) return false
  if (event.node === null || (nodes.length === 0 && causes.length === 0)) return true
  // If a node was renamed, it is enough that the old or the new name matches.
  const { after, before, cause } = dataOf(event)
  if (cause !== undefined && causes.length > 0 && !causes.includes(cause)) return false
  return isAny(
    nodes,
    [before?.name, after?.name].filter((name) => name !== undefined)
  )
}
