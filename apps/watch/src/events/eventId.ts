/**
 * The id of an event: a hash of what the event is about and of nothing else, so that every replay and every process gives the
 * same one.
 */
import { createHash } from "node:crypto"
import type { Identity } from "../diff/Fact.ts"

/** 128 bits in hexadecimal digits. */
export const eventId = (account: string, type: string, { incarnation, life, nodeId, version }: Identity): string =>
  createHash("sha256")
    .update(JSON.stringify([account, nodeId, incarnation, life, type, version]))
    .digest("hex")
    .slice(0, 32)
