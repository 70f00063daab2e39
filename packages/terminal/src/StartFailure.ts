/**
 * The error that says in one line why a program did not start (exit code 2), and a function that reads a file that a flag
 * names.
 */
import { Data, Effect, FileSystem } from "effect"

export class StartFailure extends Data.TaggedError("StartFailure")<{ readonly message: string }> {}

const sentences: Readonly<Record<string, string>> = {
  NotFound: "there is no such file",
  PermissionDenied: "you have no permission",
  BadResource: "it is not a file"
}

/** The part of a `PlatformError` that is needed here. */
export interface FileProblem {
  readonly reason: { readonly _tag: string }
}

/** Why a file cannot be used. */
export const whyNot = ({ reason }: FileProblem): string => sentences[reason._tag] ?? reason._tag

export const megabytes = (bytes: number): number => Math.ceil(bytes / 1_048_576)

/**
 * The text of a file that a flag names. If `maxBytes` is given, the file must be a regular file of at most that size; both
 * are checked before the file is read.
 */
export const readFlagFile = Effect.fnUntraced(function* (flag: string, file: string, maxBytes?: number) {
  const fs = yield* FileSystem.FileSystem
  const cannot = (reason: string) => new StartFailure({ message: `${flag}: cannot read ${file}: ${reason}` })
  if (maxBytes !== undefined) {
    const { size, type } = yield* Effect.mapError(fs.stat(file), (error) => cannot(whyNot(error)))
    if (type !== "File") return yield* cannot("it is not a file")
    if (Number(size) > maxBytes) {
      return yield* cannot(`it has ${megabytes(Number(size))} MB; at most ${megabytes(maxBytes)} MB are read`)
    }
  }
  return yield* Effect.mapError(fs.readFileString(file), (error) => cannot(whyNot(error)))
})
