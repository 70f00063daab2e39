/**
 * Which nodes are members of a fleet, by the ledgers of `berth apply`. Pure, and lenient: of a ledger only the ids of its members are
 * read, and what is none is left out.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { Predicate } from "effect"

/** A member of a fleet. */
export interface Membership {
  readonly fleet: string
  /** Such as `web-1`. */
  readonly member: string
}

/** The members in the text of a ledger, by the ids of their nodes; undefined where it is no ledger. */
export const ledgerMembers = (text: string): ReadonlyMap<number, Membership> | undefined => {
  const ledger = parseJson(text)
  if (!Predicate.isObject(ledger) || !Predicate.isString(ledger["fleet"]) || !Predicate.isObject(ledger["members"])) {
    return undefined
  }
  const { fleet, members } = ledger
  return new Map(
    Object.entries(members).flatMap(([member, entry]) =>
      Predicate.isObject(entry) && Number.isSafeInteger(entry["id"])
        ? [[Number(entry["id"]), { fleet, member }] as const]
        : []
    )
  )
}
