/**
 * `berth state accept`: accepts listed nodes that no create in the shared state explains. Until a listed node is
 * accepted, a create with an idempotency key does not create a node of the same name, because a database that was
 * restored from a backup may lack the key of the create that made the listed node.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { connection } from "../../settings/client.ts"
import { faultOf } from "../../state/Kind.ts"
import { command } from "../command.ts"
import { Output, printNote } from "../../output/Output.ts"
import { stateAddress } from "./migrate.ts"

export const accept = command(
  {},
  Effect.fnUntraced(function* () {
    const address = yield* stateAddress
    const { options } = yield* connection
    const { acceptNodes } = yield* Effect.promise(() => import("@berthkit/terminal/openState"))
    const known = yield* Effect.mapError(acceptNodes(options, address), faultOf("The nodes cannot be accepted"))
    yield* printNote(
      known.length === 0 ? "There are no such nodes." : "Creates under keys may now have these names again:"
    )
    yield* Output.use(({ data }) => data(known.map(({ name, node }) => `${node}\t${escapeControls(name)}\n`).join("")))
  })
)
