/** A catalogue that a test watches by hand: every call is a read, and returns a short form of the facts that it proves. */
import type { CataloguePlan, EntryFact } from "../../../src/diff/CatalogueFact.ts"
import { readCatalogue, unread, writeCatalogue, type CatalogueRead } from "../../../src/diff/catalogue/Catalogue.ts"
import { diffCatalogue, nextReadMillis, noEvidence, type NodesOn } from "../../../src/diff/catalogue/diffCatalogue.ts"
import { readAt } from "./reading.ts"

export const brief = ({ subject, type }: EntryFact): string => `${type.slice("berth.".length)} ${subject}`

export const watching = (nodesOn: NodesOn = () => []) => {
  let catalogue = unread
  let evidence = noEvidence
  const take = (read: CatalogueRead): ReadonlyArray<EntryFact> => {
    const difference = diffCatalogue(catalogue, evidence, read, nodesOn)
    catalogue = difference.catalogue
    evidence = difference.evidence
    return difference.facts
  }
  return {
    take,
    /** The facts in short. */
    read: (...args: Parameters<typeof readAt>) => take(readAt(...args)).map(brief),
    /** Another process continues with the stored state. */
    restart: () => {
      catalogue = readCatalogue(writeCatalogue(catalogue))
      evidence = noEvidence
    },
    known: () => catalogue,
    nextMillis: () => nextReadMillis(catalogue, evidence, 30 * 60_000)
  }
}

/** A watched catalogue after its baseline: the first reads showed these plans. */
export const watchingFrom = (plans: ReadonlyArray<CataloguePlan>, nodesOn?: NodesOn) => {
  const watch = watching(nodesOn)
  watch.read(0, plans)
  watch.read(10, plans)
  return watch
}
