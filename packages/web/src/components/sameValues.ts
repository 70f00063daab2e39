/** Values that were read anew and are as they were: a row of one is not rendered again. */

/** The values of `after`, each as the one of `before` with the same key where both say the same. */
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

/** A function of an object that is called once for each: Preact skips an element that it has rendered. */
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
