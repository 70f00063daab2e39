/**
 * The configuration of `berth-watch`: accounts, sinks, store; its defaults, and the forms of values that flags and tables share with it.
 * `readConfig.ts` reads it from YAML. Secrets come from the environment or from files, never from the config itself.
 */
import { type ClientOptions, settingsFrom } from "@berthkit/core/client/options/Settings"
import { isExposed } from "@berthkit/core/client/transport/loopback"
import { variables } from "@berthkit/terminal/variables"
import { Redacted, Result } from "effect"
import type { HeartbeatOptions } from "../deliver/heartbeat.ts"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import type { CompileTemplate } from "../deliver/template/Template.ts"
import type { Budget } from "../spend/Ledger.ts"
import type { Retention } from "../store/retention.ts"

export interface AccountOptions {
  /** The account's name in events and cursors. */
  readonly name: string
  readonly connection: Pick<ClientOptions, "baseUrl" | "credentials" | "project" | "location" | "userAgent">
  /**
   * Interval from the start of one sweep (a read of the whole node list) to the start of the next; null: derived from the
   * number of nodes and the share.
   */
  readonly intervalMillis: number | null
  /** Maximum share of the rate limit: above 0, up to 1. */
  readonly share: number
  /** Grace: the minimum time between the two reads that confirm that a missing node is gone. */
  readonly graceMillis: number
  /** Hold: how long a suspiciously short list must persist before the daemon believes it. */
  readonly holdMillis: number
  /** The monthly budget, and the shares of the budget at which alerts are sent; null: no alerts. */
  readonly budget: Budget | null
  /** How long a node may be powered off before it is reported; null: never, whatever its lease. */
  readonly forgottenMillis: number | null
}

export interface Listen {
  readonly host: string
  readonly port: number
}

/** The public address of the daemon in two parts. */
export interface PublicUrl {
  /** `https://host`. */
  readonly origin: string
  /** Starts with a slash; empty if the address has no path. */
  readonly path: string
}

export interface WatchConfig {
  /** Path of a file, or a `postgres://` address. */
  readonly store: Redacted.Redacted
  /** Null: no HTTP. */
  readonly listen: Listen | null
  readonly token: Redacted.Redacted | null
  /** The address that browsers use if there is a TLS proxy in front of the daemon; null if there is none. */
  readonly publicUrl: PublicUrl | null
  /** May be empty only if the store is in PostgreSQL. The accounts are then in a table of that database. */
  readonly accounts: ReadonlyArray<AccountOptions>
  readonly sinks: ReadonlyArray<SinkOptions>
  readonly heartbeat: HeartbeatOptions | null
  readonly retention: Retention
}

/** Access to the files and variables that the config refers to. */
export interface Surroundings {
  /** Path of the config; other paths in it are relative to its folder. */
  readonly path: string
  readonly variable: (name: string) => string | undefined
  /** The content of a file; throws if it cannot be read. */
  readonly file: (path: string) => string
  /** Compiles templates; undefined if the text of the config has none, so that their language is not loaded. */
  readonly compileTemplate?: CompileTemplate
}

export const defaultListen: Listen = { host: "127.0.0.1", port: 9464 }
export const defaultAccount = {
  intervalMillis: null,
  share: 0.6,
  graceMillis: 60_000,
  holdMillis: 600_000,
  budget: null,
  forgottenMillis: null
} as const
export const defaultMaxLag = 1_000_000

const loopback = /^(localhost|127(\.\d+){3}|::1)$/

/** Parses `host:port`, with an IPv6 address in brackets. */
export const parseListen = (text: string): Listen | undefined => {
  const found = /^(?:\[([0-9a-f:]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text)
  const port = Number(found?.[3])
  return found === null || port > 65_535 ? undefined : { host: found[1] ?? found[2]!, port }
}

export const isLoopback = ({ host }: Listen): boolean => loopback.test(host)

/** A token in this form is valid in a header and too long to guess. */
export const tokenForm = "at least 16 printable ASCII characters without spaces"
export const isToken = (token: Redacted.Redacted): boolean => /^[\x21-\x7e]{16,}$/.test(Redacted.value(token))

export const parseShare = (text: string): number | undefined => {
  const percent = /^(\d{1,3})\s?%$/.exec(text)?.[1]
  const share = Number(percent) / 100
  return share > 0 && share <= 1 ? share : undefined
}

/**
 * The `User-Agent` of an account: its own, otherwise the one in the environment. A gateway that demands a certain value usually
 * belongs to the network, not to an account.
 */
export const userAgentOf = (
  own: string | null,
  { variable }: Pick<Surroundings, "variable">
): { userAgent?: string } => {
  const userAgent = own ?? variable(variables.userAgent)?.trim()
  return userAgent ? { userAgent } : {}
}

/** The first unusable option of a connection, and what is wrong with it; null if all are usable. */
export const connectionProblem = (
  connection: AccountOptions["connection"],
  allowHttp: boolean
): { readonly option: string; readonly why: string } | null => {
  const settings = settingsFrom(connection)
  if (Result.isFailure(settings)) {
    return { option: settings.failure.option, why: `is not usable: ${settings.failure.detail}` }
  }
  return isExposed(connection.baseUrl) && !allowHttp
    ? {
        option: "baseUrl",
        why: "is plain http, where anyone on the network path could read the credentials: use https, or add allowHttp: true"
      }
    : null
}

/**
 * The name if it is valid, otherwise undefined. Names with a leading `_` are reserved for the daemon itself. Names of accounts and sinks
 * appear in commands that the daemon suggests, so they must not need quotes or look like flags.
 */
export const accountName = (text: string): string | undefined =>
  /^[A-Za-z0-9.@][\w.@-]{0,63}$/.test(text) ? text : undefined
export const sinkName = (text: string): string | undefined => (/^[\w.][\w.-]{0,63}$/.test(text) ? text : undefined)
