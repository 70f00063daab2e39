/**
 * The highest node id there is, as it was after a create asked for it: a node that is made later has a higher one (A11),
 * and an older node of the same name has not. Creates that ask at the same time share one reading.
 */
import { Effect, Semaphore } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node } from "../../domain/Node.ts"
import { type End, highestId, nodesAbove, type ReadPage } from "./NewestNodes.ts"

export interface Watermark {
  /** The highest id at some instant after this was asked for. */
  readonly highest: (readPage: ReadPage) => Effect.Effect<number, BerthError>
  /** The nodes with an id above this. */
  readonly above: (readPage: ReadPage, id: number) => Effect.Effect<ReadonlyArray<Node>, BerthError>
}

/** The watermark of one client. */
export const make = (): Watermark => {
  const turn = Semaphore.makeUnsafe(1)
  let end: End | undefined
  let id = 0
  /** How many readings have begun, and the last of them that has ended. */
  let begun = 0
  let ended = 0
  return {
    highest: (readPage) =>
      Effect.suspend(() => {
        const before = begun
        return turn.withPermit(
          Effect.suspend(() => {
            if (ended > before) return Effect.succeed(id)
            const reading = ++begun
            return Effect.map(highestId(readPage, end), (found) => {
              end = found.end
              // Ids are never given twice: where the list shows less than it did, what is new is above what it showed then.
              id = found.end === undefined ? found.id : Math.max(id, found.id)
              ended = reading
              return id
            })
          })
        )
      }),
    above: (readPage, newerThan) =>
      Effect.map(nodesAbove(readPage, newerThan, end), (found) => {
        end = found.end
        return found.nodes
      })
  }
}
