/**
 * Narrows a status to those that Berth knows. Has a file of its own, because its type declarations must import no
 * library.
 */
import { knownStatuses } from "../domain/knownStatuses.ts"
import type { KnownStatus } from "./Records.ts"

/** Whether Berth knows this status. */
export const isKnownStatus = (status: string): status is KnownStatus => knownStatuses.some((known) => known === status)
