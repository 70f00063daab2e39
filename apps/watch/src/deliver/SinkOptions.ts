/**
 * What a sink is: where its events go, and which of them. Plain data; `config/` reads it, `deliver/` acts on it.
 */
import type { Redacted } from "effect"

/** A pattern in which `*` stands for any text. */
export type Glob = string

export interface EventSelection {
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
}

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
