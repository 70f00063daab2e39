/**
 * The flags of `berth-server`, each read strictly into what it means. What is done with them is in `main.ts`.
 */
import { Duration, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { type AllowancePolicy, algorithms } from "../world/allowance.ts"
import { largestFleet, type Scenario } from "../world/scenario.ts"
import type { ClockMode } from "../world/VirtualClock.ts"
import { type Account, authModes, defaults, deleteStyles } from "../world/World.ts"

/** The port when none is named. */
const defaultPort = 8787

const longestDurationMs = 10 * 365 * 86_400_000

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `10s`, `5m`, `1h`, `250ms`, `1d`, or an Effect duration such as `10 seconds`; in whole milliseconds, up to 10 years. */
export const readDurationMs = (text: string): Option.Option<number> => {
  const short = /^(\d+)(ms|s|m|h|d)$/.exec(text)
  const ms =
    short === null
      ? Option.getOrElse(Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis), () => Number.NaN)
      : Number(short[1]) * unitMs[short[2] as keyof typeof unitMs]
  return Number.isInteger(ms) && ms >= 0 && ms <= longestDurationMs ? Option.some(ms) : Option.none()
}

/** `1200/1h`: requests per window, both at least 1. */
export const readRateLimit = (text: string): Option.Option<Pick<AllowancePolicy, "limit" | "windowMs">> => {
  const parts = /^([1-9]\d{0,8})\/(.+)$/.exec(text)
  if (parts === null) return Option.none()
  return Option.map(
    Option.filter(readDurationMs(parts[2]!), (windowMs) => windowMs > 0),
    (windowMs) => ({ limit: Number(parts[1]), windowMs })
  )
}

/** `real`, `frozen`, or `x` and a factor of 1 or more, as in `x60`. */
export const readClock = (text: string): Option.Option<ClockMode> => {
  if (text === "real" || text === "frozen") return Option.some(text)
  const factor = /^x(\d{1,6}(?:\.\d{1,3})?)$/.exec(text)?.[1]
  return factor === undefined || Number(factor) < 1 ? Option.none() : Option.some({ times: Number(factor) })
}

/** `empty`, `small`, or `fleet:` and a number of nodes. */
export const readScenario = (text: string): Option.Option<Scenario> => {
  if (text === "empty" || text === "small") return Option.some(text)
  const fleet = /^fleet:(\d{1,9})$/.exec(text)?.[1]
  return fleet === undefined || Number(fleet) > largestFleet ? Option.none() : Option.some({ fleet: Number(fleet) })
}

/** `KEY:TOKEN`: visible ASCII, so that both fit into a header; the first colon divides them. */
export const readAccount = (text: string): Option.Option<Account> => {
  const parts = /^([!-9;-~]+):([!-~]+)$/.exec(text)
  return parts === null
    ? Option.none()
    : Option.some({ apiKey: Redacted.make(parts[1]!), accessToken: Redacted.make(parts[2]!) })
}

/** A text flag that is read by `read`; `shape` completes "expected …". */
const parsed = <A>(name: string, read: (text: string) => Option.Option<A>, shape: string) =>
  Flag.String(name).pipe(Flag.filterMap(read, (text) => `--${name}: expected ${shape}, not ${JSON.stringify(text)}`))

const duration = (name: string, describedAs: string, defaultMs: number) =>
  parsed(name, readDurationMs, 'a duration such as 10s, 5m or "10 seconds"').pipe(
    Flag.withDescription(`${describedAs}; default ${defaultMs / 1000}s`),
    Flag.withDefault(defaultMs)
  )

export const flags = {
  port: Flag.Int("port").pipe(
    Flag.filter(
      (port) => port >= 0 && port <= 65_535,
      (port) => `--port: expected 0 to 65535, not ${port}`
    ),
    Flag.withDescription(`Port to listen on, 0 for a free one; default ${defaultPort}`),
    Flag.withDefault(defaultPort)
  ),
  host: Flag.String("host").pipe(
    Flag.withDescription("Address to listen on; default 127.0.0.1. Beyond loopback it needs --control-token"),
    Flag.withDefault("127.0.0.1")
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("Decides ids, addresses, prices and versions; default 1"),
    Flag.withDefault(defaults.seed)
  ),
  clock: parsed("clock", readClock, "real, frozen or a factor such as x60").pipe(
    Flag.withDescription("How the world's time passes: real, x60 (sixty times as fast), frozen; default real"),
    Flag.withDefault<ClockMode>("real")
  ),
  provisioning: duration("provisioning", "Time from a create to running", defaults.lifecycle.provisioningMs),
  termination: duration("termination", "Time from a delete to being gone", defaults.lifecycle.terminationMs),
  rateLimit: parsed("rate-limit", readRateLimit, "requests per window such as 1200/1h").pipe(
    Flag.withDescription("The allowance; default 1200/1h"),
    Flag.withDefault<Pick<AllowancePolicy, "limit" | "windowMs">>(defaults.allowance)
  ),
  rateLimitAlgorithm: Flag.Literals("rate-limit-algorithm", algorithms).pipe(
    Flag.withDescription("The kind of window; default fixed-window"),
    Flag.withDefault(defaults.allowance.algorithm)
  ),
  auth: Flag.Literals("auth", authModes).pipe(
    Flag.withDescription("What a request must show: key and token, the key, nothing; default strict"),
    Flag.withDefault(defaults.auth)
  ),
  deleteStyle: Flag.Literals("delete-style", deleteStyles).pipe(
    Flag.withDescription("A delete answers 204 without a body, or 200 with the envelope; default documented"),
    Flag.withDefault(defaults.deleteStyle)
  ),
  uniqueNames: Flag.Boolean("unique-names").pipe(
    Flag.withDescription("Refuse a name that a node has"),
    Flag.withDefault(defaults.uniqueNames)
  ),
  // Read in main.ts: an error about it must not repeat it.
  account: Flag.String("account").pipe(
    Flag.withMetavar("KEY:TOKEN"),
    Flag.withDescription(
      "API key and access token; may be given again for further accounts; default berth-key:berth-token"
    ),
    Flag.atLeast(0)
  ),
  controlToken: Flag.Redacted("control-token").pipe(
    Flag.withDescription("Needed to listen beyond loopback"),
    Flag.optional
  ),
  scenario: parsed("scenario", readScenario, `empty, small or fleet:N with N up to ${largestFleet}`).pipe(
    Flag.withDescription("What the account begins with: nothing, a handful, or N nodes; default empty"),
    Flag.withDefault<Scenario>("empty")
  )
}
