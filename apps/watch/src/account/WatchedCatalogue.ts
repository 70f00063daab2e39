/**
 * The images and plans of an account, as the store keeps them and the diff sees them: loaded once, and changed only by reads.
 */
import { Effect } from "effect"
import {
  type Catalogue,
  type CatalogueRead,
  namesOf,
  readCatalogue,
  unread,
  writeCatalogue
} from "../diff/catalogue/Catalogue.ts"
import {
  type CatalogueDifference,
  type CatalogueEvidence,
  diffCatalogue,
  noEvidence
} from "../diff/catalogue/diffCatalogue.ts"
import type { Snapshot } from "../diff/Snapshot.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { makeAccount, type OwnAccount } from "./WatchedAccount.ts"
import type { PlanNames } from "../diff/catalogue/PlanNames.ts"
import type { SpendChange } from "./WatchedSpend.ts"

export interface WatchedCatalogue {
  readonly known: () => Catalogue
  readonly evidence: () => CatalogueEvidence
  /** Processes a read, and returns what happened once that is committed. */
  readonly observe: (read: CatalogueRead) => Effect.Effect<CatalogueDifference["facts"], StoreFailed>
}

/**
 * The images of the nodes on a plan, whichever of the plan's names the nodes show. Looked up only if something happened
 * to the plan.
 */
const nodesOn =
  ({ nodes }: Snapshot, names: PlanNames) =>
  (plan: string): ReadonlyArray<string | null> =>
    Array.from(nodes.values()).flatMap(({ state: { node } }) =>
      node.plan !== null && names.relation(node.plan, plan) === "same" ? [node.image] : []
    )

/** The changes of a read, and their effect on spending. */
interface WithSpend extends CatalogueDifference {
  readonly money: SpendChange
}

export const openCatalogue = Effect.fnUntraced(function* ({ owner, snapshot, spend }: Omit<OwnAccount, "observe">) {
  const store = yield* Store
  const kept = yield* store.catalogueOf(owner.account)
  let catalogue = kept === null ? unread : readCatalogue(kept)
  let evidence = noEvidence
  spend.notePrices(catalogue)
  const { observe } = yield* makeAccount({
    owner,
    mailbox: spend.mailbox,
    belief: {
      diff: (read: CatalogueRead): WithSpend => {
        const difference = diffCatalogue(catalogue, evidence, read, nodesOn(snapshot, namesOf(catalogue)))
        const money = spend.prices(catalogue, difference, snapshot, read.answered.atMillis)
        return { ...difference, money }
      },
      durable: ({ money, ...difference }: WithSpend) => ({
        ...(difference.catalogue === catalogue ? {} : { catalogue: writeCatalogue(difference.catalogue) }),
        ...money.durable
      }),
      apply: ({ money, ...difference }) => {
        spend.apply(money)
        spend.notePrices(difference.catalogue)
        catalogue = difference.catalogue
        evidence = difference.evidence
      }
    }
  })
  return { known: () => catalogue, evidence: () => evidence, observe } satisfies WatchedCatalogue
})
