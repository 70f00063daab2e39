/**
 * The id of an event: a hash of what the event is about and of nothing else, so that every replay and every process gives the
 * same one.
 */
import { createHash } from "node:crypto"
import type { Identity } from "../diff/Fact.ts"

/** What an event is about. Of an event of the daemon itself the version may be any text. */
export type EventIdentity = Omit<Identity, "version"> & { readonly version: number | string }

/** 128 bits in hexadecimal digits. */
export const hashOf = (identity: ReadonlyArray<unknown>): string =>
  createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32)

/** `accountId` is that of the store, which no other store has: a name may be used again for another account. */
export const eventId = (
  accountId: string,
  type: string,
  { incarnation, life, nodeId, version }: EventIdentity
): string => hashOf([accountId, nodeId, incarnation, life, type, version])
