/**
 * Takes the items of an async iterator one at a time, in order: a consumer may ask for the next before it has the last.
 */
export const inOrder = <A>(take: () => Promise<A>): (() => Promise<A>) => {
  let turn: Promise<unknown> = Promise.resolve()
  return () => {
    const result = turn.then(take, take)
    turn = result
    return result
  }
}
