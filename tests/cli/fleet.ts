/** A fleet file in its own folder, and functions that run `berth` on it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Ended } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { settings } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const small = "C-2VCPU-8RAM-50DISK"
export const large = "C-4VCPU-16RAM-100DISK"

/** The text of a fleet of web nodes. */
export const webs = (count: number, plan = small, more = ""): string =>
  `fleet: shop\nnodes:\n  web: { count: ${count}, plan: ${plan}, image: Ubuntu-24.04${more} }\n`

/** A row of `-o json`. */
export interface Row {
  readonly action: string
  readonly member: string
  readonly id: number | null
  readonly outcome: string
  readonly differencePerHourInr: number | null
  readonly committedPriceInr: number | null
  readonly minimumBillingInr: number | null
  readonly reason: string
}

export const rowsOf = ({ stdout }: Ended): ReadonlyArray<Row> => JSON.parse(stdout)

/** The nodes that exist, read from the service itself. */
export const nodes = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.orDie(control.nodes.list({ params: { world: id }, query: {} }))
)

type Invoke = typeof invoke

const makeFolder = Effect.fnUntraced(function* <E, R>(
  invoke: Invoke,
  account: Effect.Effect<Readonly<Record<string, string | undefined>>, E, R>
) {
  const folder = yield* stateFolder
  const state = yield* stateFolder
  const file = join(folder, "fleet.yaml")
  const ledger = join(folder, "fleet.ledger.json")
  const env = Effect.map(account, (account) => ({ ...account, XDG_STATE_HOME: state }))
  const run = (args: ReadonlyArray<string>) => Effect.flatMap(env, (env) => invoke(args, { env }))
  return {
    folder,
    file,
    ledger,
    env,
    write: (text: string) => writeFileSync(file, text),
    ledgerText: () => (existsSync(ledger) ? readFileSync(ledger, "utf8") : ""),
    run,
    apply: (...args: ReadonlyArray<string>) => run(["apply", "-f", file, ...args]),
    diff: (...args: ReadonlyArray<string>) => run(["diff", "-f", file, ...args])
  }
})

/** Makes a folder with a fleet file, and functions that run `berth` on it. */
export const fleetFolder = makeFolder(invoke, settings)

/** Flags with time limits. Shorter pauses would shorten these limits as well, and end a run too early. */
const limits = new Set(["--deadline", "--timeout", "--ready-timeout"])

const inAHurry: Invoke = (args, options) => {
  const running = invoke(args, options)
  return args.some((arg) => limits.has(arg)) ? running : hurried(running)
}

/** The same, but runs have shorter pauses unless they have a time limit. */
export const hurriedFolder = makeFolder(inAHurry, settings)

/** The same, for the account of these settings. */
export const hurriedFolderOf = (account: Readonly<Record<string, string>>) =>
  makeFolder(inAHurry, Effect.succeed(account))
