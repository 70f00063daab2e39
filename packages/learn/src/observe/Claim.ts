/**
 * A claim of an assumption (`docs/interface/assumptions.md`) that evidence can confirm or refute, and the functions that
 * find it in evidence.
 */
import type { Exchange } from "./Exchange.ts"

export type Evidenced = ReadonlyArray<Exchange>

/** What one exchange shows: a value, and a sentence for people. Undefined if it shows nothing. */
export type Shown<A> = readonly [value: A, says: string] | undefined

/** A shown value, with its sentence and the exchange that shows it. */
export interface Observation<A> {
  readonly value: A
  readonly says: string
  readonly exchange: Exchange
}

/** Everything that evidence shows about one thing. */
export type Observer<A> = (evidence: Evidenced) => Iterable<Observation<A>>

/** The kind of evidence that a claim needs. */
type Needs = "a read" | "more nodes" | "a create and a delete" | "a request that the probe does not send" | "time"

export interface Claim<A = any> {
  readonly assumption: string
  readonly claim: string
  /** The observation that would refute the claim, in words. */
  readonly refutedBy: string
  readonly needs: Needs
  readonly see: Observer<A>
  readonly holds: (value: A) => boolean
}

interface Details<A> extends Pick<Claim<A>, "refutedBy"> {
  readonly see: Observer<A>
  /** Whether an observed value agrees with the claim. Default: it agrees if it is `true`. */
  readonly holds?: (value: A) => boolean
  /** Default: a read. */
  readonly needs?: Needs
}

export const claim = <A>(
  assumption: string,
  text: string,
  { holds = is<unknown>(true), needs = "a read", ...rest }: Details<A>
): Claim<A> => ({ assumption, claim: text, needs, holds, ...rest })

export const is =
  <A>(expected: A) =>
  (value: A): boolean =>
    value === expected

/**
 * The observation that decides a claim: the first one that contradicts it. If none does, the first observation; undefined if
 * there is none.
 */
export const observe = <A>({ holds, see }: Claim<A>, evidence: Evidenced): Observation<A> | undefined => {
  let first: Observation<A> | undefined
  for (const found of see(evidence)) {
    if (!holds(found.value)) return found
    first ??= found
  }
  return first
}

export const observation = <A>(exchange: Exchange, value: A, says: string): Observation<A> => ({
  value,
  says,
  exchange
})

type Read<S> = (exchange: Exchange, evidence: Evidenced) => S

/** An observer of the exchanges that `some` selects. It yields the result of `read` for each of them. */
export const each = <const S extends Shown<unknown>>(some: (evidence: Evidenced) => Evidenced, read: Read<S>) =>
  function* (evidence: Evidenced): Generator<Observation<NonNullable<S>[0]>> {
    for (const exchange of some(evidence)) {
      const shown = read(exchange, evidence)
      if (shown !== undefined) yield { exchange, value: shown[0], says: shown[1] }
    }
  }

/** The same, but only the observation of the first exchange that shows anything. */
export const first =
  <const S extends Shown<unknown>>(some: (evidence: Evidenced) => Evidenced, read: Read<S>) =>
  (evidence: Evidenced) =>
    each(some, read)(evidence).take(1)

export const all = (evidence: Evidenced): Evidenced => evidence

/** Computes a result once for each evidence, because many claims need the result. */
export const once = <A>(make: (evidence: Evidenced) => A) => {
  const made = new WeakMap<Evidenced, { readonly value: A }>()
  return (evidence: Evidenced): A => {
    const known = made.get(evidence) ?? { value: make(evidence) }
    made.set(evidence, known)
    return known.value
  }
}
