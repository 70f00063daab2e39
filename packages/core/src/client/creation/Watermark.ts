/**
 * The highest node id there is, as it was after somebody asked: what comes of a create sent later has a higher one
 * (decision 11), and an older node of the same name has not. Creates that ask at the same time share one look.
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
  /** Looks that have begun, and the last one of which the answer is there. */
  let begun = 0
  let answered = 0
  return {
    highest: (readPage) =>
      Effect.suspend(() => {
        const before = begun
        return turn.withPermit(
          Effect.suspend(() => {
            if (answered > before) return Effect.succeed(id)
            const look = ++begun
            return Effect.map(highestId(readPage, end), (found) => {
              end = found.end
              // Ids are never given twice: where the list shows less than it did, what is new is above what it showed then.
              id = found.end === undefined ? found.id : Math.max(id, found.id)
              answered = look
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
