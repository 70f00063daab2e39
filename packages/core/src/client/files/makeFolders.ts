/**
 * Makes a folder, and missing ones above it. Not by the recursion of `node:fs`, which never ends where a folder cannot be made
 * although the one above it exists, as where homes are mounted on demand.
 */
import { Effect } from "effect"

/** The folder above; the folder itself when it has none. */
export const above = (folder: string): string => folder.replace(/[\\/]+[^\\/]*[\\/]*$/, "") || folder

/** `mkdir` makes one folder; `codeOf` returns the POSIX code of its failures. */
export const makeFolders = <E, R>(
  folder: string,
  mkdir: (folder: string) => Effect.Effect<void, E, R>,
  codeOf: (error: E) => string | undefined
): Effect.Effect<void, E, R> => {
  const makeOne = (folder: string) =>
    Effect.catch(mkdir(folder), (error) => (codeOf(error) === "EEXIST" ? Effect.void : Effect.fail(error)))
  const make = (folder: string): Effect.Effect<void, E, R> =>
    Effect.catch(makeOne(folder), (error) =>
      codeOf(error) === "ENOENT" && above(folder) !== folder
        ? Effect.andThen(make(above(folder)), makeOne(folder))
        : Effect.fail(error)
    )
  return make(folder)
}
