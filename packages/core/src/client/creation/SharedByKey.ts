/** Something that all users of one key share, for as long as there are any. */
import { Effect } from "effect"

/** Gives `use` what the present users of its key share; the first of them makes it. */
export const sharedByKey = <S>(make: () => S) => {
  const entries = new Map<string, { readonly shared: S; users: number }>()
  return <A, E, R>(key: string, use: (shared: S) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const entry = entries.get(key) ?? { shared: make(), users: 0 }
        entries.set(key, entry)
        entry.users++
        return entry
      }),
      ({ shared }) => use(shared),
      (entry) => Effect.sync(() => --entry.users === 0 && entries.delete(key))
    )
}
