/**
 * `berth node ip`: prints only the public address of a node, for other programs.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { publicAddress } from "../../nodes/reachedHosts.ts"
import { oneNode } from "../../nodes/Target.ts"
import { Output } from "../../output/Output.ts"
import { OutputFormat } from "../../output/OutputOptions.ts"
import { printOne } from "../../output/print.ts"
import { addressRecord } from "../../records/address.ts"
import { client } from "../../settings/client.ts"

export const ip = command(
  { node: oneNode },
  Effect.fnUntraced(function* ({ node: given }) {
    const { address, node } = yield* publicAddress(given)
    if ((yield* OutputFormat) !== "table") return yield* printOne(addressRecord, node)
    yield* Output.use(({ data }) => data(`${address}\n`))
  }),
  client
)
