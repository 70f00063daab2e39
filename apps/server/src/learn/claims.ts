/**
 * What would refute each assumption of `docs/interface/assumptions.md`: for every claim that evidence can touch the observation
 * that decides it, and for the others why none can. A test compares this table with the page.
 */
import type { Claim } from "./observe/Claim.ts"
import { failures } from "./observe/failures.ts"
import { images } from "./observe/images.ts"
import { life } from "./observe/life.ts"
import { paging } from "./observe/paging.ts"
import { records } from "./observe/records.ts"
import { window } from "./observe/window.ts"

/** An assumption, or a part of one, that no evidence can refute. */
export interface NoClaim {
  readonly assumption: string
  readonly claim: string
  readonly unobservable: string
}

const unobservable: ReadonlyArray<NoClaim> = [
  {
    assumption: "A3",
    claim: "The client takes failures in other forms",
    unobservable: "It says what the client tolerates, and so no reply contradicts it; A2 says which form there is"
  },
  {
    assumption: "A5",
    claim: "Key and token are both needed",
    unobservable:
      "Recorders leave credentials out, so that evidence without one says nothing; the probe never sends a wrong one"
  },
  {
    assumption: "A6",
    claim: "The commitment endpoint takes three cookies in place of the token",
    unobservable: "Evidence has no credentials: they are taken out as it is read, and cookies are among them"
  },
  {
    assumption: "A15",
    claim: "Backups can be chosen at creation only",
    unobservable: "It is documented that there is no request for it, and a request that does not exist shows nothing"
  },
  {
    assumption: "A17",
    claim: "What a commitment needs, and what follows its end",
    unobservable: "A term is 30 days or more, and a commitment costs its whole price: no evidence is recorded for that"
  },
  {
    assumption: "A23",
    claim: "There are no events",
    unobservable: "An interface for events that is not documented cannot be looked for, only stumbled upon"
  }
]

const subjects: ReadonlyArray<Readonly<Record<string, Claim>>> = [failures, life, records, paging, images, window]

const numberOf = ({ assumption }: { readonly assumption: string }): number => Number(assumption.slice(1))

/** By the number of the assumption. */
export const claims: ReadonlyArray<Claim | NoClaim> = [...subjects.flatMap(Object.values<Claim>), ...unobservable].sort(
  (a, b) => numberOf(a) - numberOf(b)
)

export const isClaim = (entry: Claim | NoClaim): entry is Claim => "see" in entry
