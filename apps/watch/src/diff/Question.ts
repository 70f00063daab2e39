/**
 * Questions: reads of single nodes that would settle something. The polling decides when to send them; `ListGuard.ts` says
 * which sweeps would settle something.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import type { Known } from "./Belief.ts"
import { questionOf } from "./ListGuard.ts"
import type { Rules, Snapshot } from "./Snapshot.ts"

/** A read of one node. */
export interface Question {
  readonly id: NodeId
  /**
   * `transition`: it will change soon. The other kinds are about doubts. `confirm` and `absent` are the last and the first read
   * that prove a deletion. `guess` is a read of a node that most likely exists, because only one list lacks it, or a read
   * showed it.
   */
  readonly kind: "transition" | "confirm" | "absent" | "guess" | "returned" | "impossible" | "census"
  /** From when an answer counts, on the monotonic clock. */
  readonly dueMonotonicMillis: number
}

/** Maximum pause between reads of a node that lists lack and reads show. */
const maxHiddenPauseMillis = 300_000

/** Maximum number of reads at a time about nodes in stale lists. */
const maxStale = 20

/**
 * Every read that would settle something; reads of nodes in transition are always included. For nodes in stale lists only some
 * are read at a time.
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

/** The more reads have shown a node that the list lacks, the later is the next read. */
const hiddenUntil = ({ hidden }: Known, { terminatingGraceMillis }: Rules): number => {
  if (hidden === null) return -Infinity
  const pause = Math.min(maxHiddenPauseMillis, terminatingGraceMillis * 2 ** Math.min(hidden.proofs, 20))
  return hidden.monotonicMillis + pause
}
