/** The silences of a daemon, as its HTTP interface shows and changes them. */
import { Clock, DateTime, Effect, Random } from "effect"
import { silenceProblem, type SilenceRequest, toSilence } from "../deliver/SilenceRequest.ts"
import {
  type Silence,
  type SilenceCount,
  type SilenceEnd,
  silenceShownMillis,
  silenceState
} from "../store/silences.ts"
import { Store } from "../store/Store.ts"
import { Refused } from "./Daemon.ts"
import type { Silence as SilenceRecord } from "./records.ts"

/** The names that a request may use. */
interface Known {
  readonly accounts: ReadonlyArray<string>
  readonly sinks: ReadonlyArray<string>
}

/** 48 random bits: short enough to type. */
const newId = Effect.map(Effect.all([Random.nextInt, Random.nextInt]), (words) =>
  words.map((word) => (word >>> 8).toString(16).padStart(6, "0")).join("")
)

const toRecord = (silence: Silence, count: SilenceCount | undefined, nowMillis: number): SilenceRecord => {
  const { atEnd, fromMillis, untilMillis, ...stated } = silence
  return {
    ...stated,
    from: DateTime.makeUnsafe(fromMillis),
    until: DateTime.makeUnsafe(untilMillis),
    then: atEnd,
    state: silenceState(silence, nowMillis),
    held: 0,
    dropped: 0,
    ...count
  }
}

export const makeSilenceOperations = (store: Store["Service"], known: Effect.Effect<Known>) => {
  const recordOf = Effect.fnUntraced(function* (silence: Silence) {
    const counts = yield* Effect.orDie(store.silenceCounts)
    return toRecord(silence, counts.get(silence.id), yield* Clock.currentTimeMillis)
  })

  return {
    silences: Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const counts = yield* Effect.orDie(store.silenceCounts)
      return (yield* Effect.orDie(store.silences))
        .filter(({ id, untilMillis }) => untilMillis > now - silenceShownMillis || (counts.get(id)?.held ?? 0) > 0)
        .map((silence) => toRecord(silence, counts.get(silence.id), now))
    }),
    addSilence: Effect.fnUntraced(function* (request: SilenceRequest) {
      const silences = yield* Effect.orDie(store.silences)
      const nowMillis = yield* Clock.currentTimeMillis
      const problem = silenceProblem(request, { ...(yield* known), silences, nowMillis })
      if (problem !== null) return yield* new Refused({ kind: "invalid", message: problem })
      const silence = toSilence(request, yield* newId, nowMillis)
      yield* Effect.orDie(store.addSilence(silence))
      return yield* recordOf(silence)
    }),
    endSilence: Effect.fnUntraced(function* (id: string, atEnd: SilenceEnd | undefined) {
      const found = (yield* Effect.orDie(store.silences)).find((silence) => silence.id === id)
      if (found === undefined) return yield* new Refused({ kind: "unknown", message: `There is no silence ${id}.` })
      const now = yield* Clock.currentTimeMillis
      if (silenceState(found, now) === "over") {
        const message = `The silence ${id} is over already.`
        return yield* new Refused({ kind: "invalid", message })
      }
      const ended = { ...found, untilMillis: now, atEnd: atEnd ?? found.atEnd }
      yield* Effect.orDie(store.endSilence(id, ended.untilMillis, ended.atEnd))
      return yield* recordOf(ended)
    }),
    /** Whether a silence exists, even if it is no longer listed. */
    hasSilence: (id: string) => Effect.map(Effect.orDie(store.silences), (all) => all.some((each) => each.id === id))
  }
}
