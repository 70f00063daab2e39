/** `berth-watch secret`: makes a signing secret for a webhook, in the format that the config and a receiver's `verify` take. */
import { randomBytes } from "node:crypto"
import { Console, Effect } from "effect"

/** A secret is as long as the hash of a signature. */
const keyBytes = 32

export const makeSecret = Effect.suspend(() => Console.log(`whsec_${randomBytes(keyBytes).toString("base64")}`))
