/**
 * `berth state migrate`: creates the database tables for the state that several machines share. Also prints the rights that another role of
 * the database needs.
 */
import { Effect } from "effect"
import { LocalFileFault } from "../../failure/CliFailure.ts"
import { Output, printNote } from "../../output/Output.ts"
import { accountSettings } from "../../settings/account.ts"
import { faultOf } from "../../state/Kind.ts"
import { stateUrlOf } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { command } from "../command.ts"

/** The address of the database; fails if none is set. */
export const stateAddress = Effect.gen(function* () {
  const address = yield* Effect.flatMap(accountSettings, ({ stateUrl }) => stateUrlOf(stateUrl))
  if (address !== undefined) return address
  return yield* new LocalFileFault({
    path: "",
    message: `${variables.stateUrl} is not set: berth keeps its state in files of this machine.`,
    hint: `Set ${variables.stateUrl}=postgres://USER:PASSWORD@HOST/DATABASE, or add --state-url, to share it with other machines.`
  })
})

export const migrate = command(
  {},
  Effect.fnUntraced(function* () {
    const address = yield* stateAddress
    const { migrateState } = yield* Effect.promise(() => import("@berthkit/terminal/openState"))
    const rights = yield* Effect.mapError(migrateState(address), faultOf("The tables cannot be made"))
    yield* printNote("The tables exist. A role that uses them needs these rights:")
    yield* Output.use(({ data }) => data(`${rights.join("\n")}\n`))
  })
)
