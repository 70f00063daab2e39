/**
 * From exchanges to verdicts: each claim is confirmed or refuted by what is observed, or stays open.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { Finding, VerdictWord } from "../profile/Profile.ts"
import { claims, isClaim, type NoClaim } from "./claims.ts"
import { type Claim, observe, once } from "./observe/Claim.ts"
import type { Exchange } from "./observe/Exchange.ts"

/** What the evidence says of a claim, with the exchange that shows it. */
export interface Judged extends Finding {
  /** What would refute it; null where nothing can. */
  readonly refutedBy: string | null
  readonly exchange: Exchange | null
}

const openBecause: Record<Claim["needs"], string> = {
  "a read": "the evidence has no request that shows it",
  "more nodes": "it takes an account with more nodes than the page can have",
  "a create and a delete": "it takes a node that is created and deleted: learn --probe --with-node, or a recording",
  "a request that the probe does not send": "only a recording shows it: the probe sends no such request",
  time: "it takes evidence that goes on until the allowance refills, or is spent"
}

const judgeOne = (entry: Claim | NoClaim, evidence: ReadonlyArray<Exchange>): Judged => {
  const { assumption, claim } = entry
  const open = { assumption, claim, verdict: "open", exchange: null } as const
  if (!isClaim(entry)) return { ...open, observed: entry.unobservable, refutedBy: null }
  const { holds, needs, refutedBy } = entry
  const found = observe(entry, evidence)
  if (found === undefined) return { ...open, observed: openBecause[needs], refutedBy }
  const { exchange, says, value } = found
  const verdict = holds(value) ? "confirmed" : "refuted"
  return { assumption, claim, verdict, observed: escapeControls(says.slice(0, 300)), refutedBy, exchange }
}

export const judge = once((evidence): ReadonlyArray<Judged> => claims.map((entry) => judgeOne(entry, evidence)))

/** How many of each verdict. */
export const tally = (findings: ReadonlyArray<Finding>): Record<VerdictWord, number> => {
  const count: Record<VerdictWord, number> = { confirmed: 0, refuted: 0, open: 0 }
  for (const { verdict } of findings) count[verdict] += 1
  return count
}
