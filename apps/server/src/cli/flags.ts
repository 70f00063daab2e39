/**
 * The flags of `berth-server`, each read strictly into what it means. What is done with them is in `main.ts`.
 */
import { Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { type AllowancePolicy, algorithms } from "../world/allowance.ts"
import { largestFleet, type Scenario } from "../world/scenario.ts"
import { readDurationMillis } from "../lifecycle/durationText.ts"
import { readClock, readRateLimit, readScenario } from "../world/WorldOptions.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"
import { type Account, authModes, defaults, deleteStyles } from "../world/World.ts"

/** The port when none is named. */
const defaultPort = 8787

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

const duration = (name: string, describedAs: string, defaultMillis: number) =>
  parsed(name, readDurationMillis, 'a duration such as 10s, 5m or "10 seconds"').pipe(
    Flag.withDescription(`${describedAs}; default ${defaultMillis / 1000}s`),
    Flag.withDefault(defaultMillis)
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
  provisioning: duration("provisioning", "Time from a create to running", defaults.lifecycle.provisioningMillis),
  termination: duration("termination", "Time from a delete to being gone", defaults.lifecycle.terminationMillis),
  rateLimit: parsed("rate-limit", readRateLimit, "requests per window such as 1200/1h").pipe(
    Flag.withDescription("The allowance; default 1200/1h"),
    Flag.withDefault<Pick<AllowancePolicy, "limit" | "windowMillis">>(defaults.allowance)
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
  // Read in command.ts: an error about it must not repeat it.
  account: Flag.String("account").pipe(
    Flag.withMetavar("KEY:TOKEN"),
    Flag.withDescription(
      "API key and access token; may be given again for further accounts; default berth-key:berth-token"
    ),
    Flag.atLeast(0)
  ),
  fault: Flag.String("fault").pipe(
    Flag.withMetavar("NAME[:option=value…]"),
    Flag.withDescription("A fault that is armed from the start; may be given again; the command faults lists them"),
    Flag.atLeast(0)
  ),
  controlToken: Flag.Redacted("control-token").pipe(
    Flag.withDescription("What a request of the control plane must show; needed to listen beyond loopback"),
    Flag.optional
  ),
  state: Flag.String("state").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Keep the worlds in this file; what it holds comes before what other flags say of worlds"),
    Flag.optional
  ),
  scenario: parsed("scenario", readScenario, `empty, small or fleet:N with N up to ${largestFleet}`).pipe(
    Flag.withDescription("What the account begins with: nothing, a handful, or N nodes; default empty"),
    Flag.withDefault<Scenario>("empty")
  )
}
