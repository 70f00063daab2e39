/**
 * What a command line gives, for what is to have no key where nothing is given.
 */

/** The fields that have a value. */
export const withoutUndefined = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]?: Exclude<A[K], undefined>
  }
