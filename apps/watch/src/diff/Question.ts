/**
 * A question is a read of one node. Its answer would settle a doubt about the node, or show a change that is expected.
 * `ReadQueue.ts` decides when to send questions; `ListGuard.ts` says when a sweep would settle a doubt.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import type { Known } from "./Belief.ts"
import { questionOf } from "./ListGuard.ts"
import type { Rules, Snapshot } from "./Snapshot.ts"

/** A read of one node. */
export interface Question {
  readonly id: NodeId
  /**
   * Why the node is read. `transition`: the node will change soon. All other kinds are about doubts. `absent` is the first read that a
   * proof of deletion needs, and `confirm` is the last. `guess`: the node most likely exists, because it is missing from only one list, or
   * a read has shown it.
   */
  readonly kind: "transition" | "confirm" | "absent" | "guess" | "returned" | "impossible" | "census"
  /** Only an answer that comes at this instant or later counts. The instant is on the monotonic clock. */
  readonly dueMonotonicMillis: number
}

/** A node may be missing from lists although reads of it succeed. This is the maximum pause between reads of such a node. */
const maxHiddenPauseMillis = 300_000

/** Maximum number of reads at a time about nodes in stale lists. */
const maxStale = 20

/**
 * All reads that would settle a doubt, and the reads of nodes in transition. Of the nodes in stale lists, only some are
 * read at a time.
 */
export const questions = (snapshot: Snapshot, rules: Rules): ReadonlyArray<Question> => {
  if (snapshot.standing.baselineMillis === null) {
    return Array.from(snapshot.evidence.census.doubtful, (id) => ({
      id,
      kind: "census",
      dueMonotonicMillis: -Infinity
    }))
  }
  const open: Array<Question> = []
  const stale: Array<Question> = []
  for (const id of snapshot.unsettled) {
    const known = snapshot.nodes.get(id)
    if (known === undefined) {
      const dueMonotonicMillis = snapshot.gone.get(id)?.returning?.notBeforeMonotonicMillis
      if (dueMonotonicMillis !== undefined) stale.push({ id, kind: "returned", dueMonotonicMillis })
      continue
    }
    const { absence, impossible, seen, sinceMonotonicMillis } = known
    if (absence !== null) {
      const question = questionOf(known, absence, snapshot.standing, rules)
      if (question?._tag === "Read") {
        const isGuess = question.isGuess || known.hidden !== null
        const kind = isGuess ? "guess" : question.isFirst ? "absent" : "confirm"
        open.push({ id, kind, dueMonotonicMillis: Math.max(question.dueMillis, hiddenUntil(known, rules)) })
      }
    } else if (sinceMonotonicMillis !== null) {
      open.push({ id, kind: "transition", dueMonotonicMillis: seen?.answered.monotonicMillis ?? -Infinity })
    }
    if (impossible !== null) {
      const dueMonotonicMillis = impossible.answered.monotonicMillis + rules.terminatingGraceMillis
      stale.push({ id, kind: "impossible", dueMonotonicMillis })
    }
  }
  if (stale.length <= maxStale) return [...open, ...stale]
  stale.sort((a, b) => a.dueMonotonicMillis - b.dueMonotonicMillis || a.id - b.id)
  return [...open, ...stale.slice(0, maxStale)]
}

/**
 * When to read a node again that reads show but the list lacks. Each further read that shows the node makes the pause
 * longer.
 */
const hiddenUntil = ({ hidden }: Known, { terminatingGraceMillis }: Rules): number => {
  if (hidden === null) return -Infinity
  const pause = Math.min(maxHiddenPauseMillis, terminatingGraceMillis * 2 ** Math.min(hidden.proofs, 20))
  return hidden.monotonicMillis + pause
}
