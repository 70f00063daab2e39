/**
 * The claims of each assumption in `docs/interface/assumptions.md`: which observation would refute a claim, or why no
 * evidence can. `judge` gives the verdict of the evidence on each claim. A test compares this table with the page.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { Finding, VerdictWord } from "@berthkit/profile/Profile"
import { type Claim, observe, once } from "./observe/Claim.ts"
import { failures } from "./observe/failures.ts"
import { images } from "./observe/images.ts"
import { life } from "./observe/life.ts"
import { paging } from "./observe/paging.ts"
import { records } from "./observe/records.ts"
import { window } from "./observe/window.ts"
import { type Exchange, isSuccess } from "./observe/Exchange.ts"

/** An assumption, or a part of one, that no evidence can refute. */
interface NoClaim {
  readonly assumption: string
  readonly claim: string
  readonly unobservable: string
}

const unobservable: ReadonlyArray<NoClaim> = [
  {
    assumption: "A3",
    claim: "The client accepts failures in other forms",
    unobservable: "This is about the client, so no reply can contradict it; A2 says which form failures have"
  },
  {
    assumption: "A5",
    claim: "Key and token are both needed",
    unobservable:
      "Recorders omit credentials, so a request without one proves nothing; the probe never sends a wrong one"
  },
  {
    assumption: "A6",
    claim: "The commitment endpoint takes three cookies in place of the token",
    unobservable: "Berth removes credentials, including cookies, from evidence when it reads it"
  },
  {
    assumption: "A15",
    claim: "Backups can be chosen at creation only",
    unobservable:
      "The interface says that no request can change them later, and a request that does not exist shows nothing"
  },
  {
    assumption: "A17",
    claim: "What a commitment needs, and what follows its end",
    unobservable: "A commitment lasts 30 days or more and costs its whole price, so nobody records evidence for it"
  },
  {
    assumption: "A23",
    claim: "There are no events",
    unobservable: "Nobody can search for an undocumented interface for events, only find it by chance"
  }
]

const subjects: ReadonlyArray<Readonly<Record<string, Claim>>> = [failures, life, records, paging, images, window]

const numberOf = ({ assumption }: { readonly assumption: string }): number => Number(assumption.slice(1))

/** Sorted by the number of the assumption. */
export const claims: ReadonlyArray<Claim | NoClaim> = [...subjects.flatMap(Object.values<Claim>), ...unobservable].sort(
  (a, b) => numberOf(a) - numberOf(b)
)

export const isClaim = (entry: Claim | NoClaim): entry is Claim => "see" in entry

/** The verdict of the evidence on a claim, with the exchange that shows it. */
export interface Judged extends Finding {
  /** The observation that would refute the claim; null if none can. */
  readonly refutedBy: string | null
  readonly exchange: Exchange | null
}

const openBecause: Record<Claim["needs"], string> = {
  "a read": "the evidence has no request that shows it",
  "more nodes": "this needs an account with more nodes than fit on a page",
  "a create and a delete": "this needs a node that is created and deleted: learn --probe --with-node, or a recording",
  "a request that the probe does not send": "only a recording can show it, because the probe sends no such request",
  time: "this needs evidence that continues until the allowance refills or is spent"
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
  const { body, operation } = exchange
  const of = isSuccess(exchange) && body.is === "json" && operation !== undefined ? { of: operation } : {}
  return { assumption, claim, verdict, observed: escapeControls(says.slice(0, 300)), ...of, refutedBy, exchange }
}

/** The verdict on each claim: confirmed, refuted or open (no evidence). */
export const judge = once((evidence): ReadonlyArray<Judged> => claims.map((entry) => judgeOne(entry, evidence)))

/** The number of each verdict. */
export const tally = (findings: ReadonlyArray<Finding>): Record<VerdictWord, number> => {
  const count: Record<VerdictWord, number> = { confirmed: 0, refuted: 0, open: 0 }
  for (const { verdict } of findings) count[verdict] += 1
  return count
}
