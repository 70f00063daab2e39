/**
 * `berth state accept`: says that nodes are known which no create of the shared state has made. Until then a create under a key makes no node
 * of their names, because the database may have been restored from a backup and have forgotten the key.
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
    yield* printNote(known.length === 0 ? "There was none." : "Creates under keys may now have these names again:")
    yield* Output.use(({ data }) => data(known.map(({ name, node }) => `${node}\t${escapeControls(name)}\n`).join("")))
  })
)
