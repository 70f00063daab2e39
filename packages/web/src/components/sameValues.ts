/** Reuses values that were read again and did not change, so that their rows are not rendered again. */

/** The values of `after`. If a value equals the value of `before` with the same key, it is replaced by that object. */
export const sameValues = <A>(
  before: ReadonlyArray<A>,
  after: ReadonlyArray<A>,
  keyOf: (value: A) => string | number
): ReadonlyArray<A> => {
  const known = new Map(before.map((value) => [keyOf(value), value]))
  return after.map((value) => {
    const same = known.get(keyOf(value))
    return same !== undefined && JSON.stringify(same) === JSON.stringify(value) ? same : value
  })
}

/**
 * Calls a function only once for each object and then repeats the result, because Preact skips an element that it has
 * already rendered.
 */
export const once = <A extends object, B>(make: (value: A) => B): ((value: A) => B) => {
  const made = new WeakMap<A, B>()
  return (value) => {
    const known = made.get(value)
    if (known !== undefined) return known
    const result = make(value)
    made.set(value, result)
    return result
  }
}
