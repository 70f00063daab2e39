/**
 * `berth-watch secret`: makes a signing secret for a webhook, as its `secret` and as a receiver's `verify` take it.
 */
import { randomBytes } from "node:crypto"
import { Console, Effect } from "effect"

/** As many as the hash of a signature has. */
const keyBytes = 32

export const makeSecret = Effect.suspend(() => Console.log(`whsec_${randomBytes(keyBytes).toString("base64")}`))
