/**
 * The files of `--start-script`.
 */
import { Effect, FileSystem, Path } from "effect"
import { UsageFault } from "../../failure/CliFailure.ts"

const fault = (given: string, why: string) =>
  new UsageFault({
    message: `--start-script cannot be ${given}: ${why}.`,
    hint: "See berth node create --help."
  })

/** What is in each of them. */
export const readStartScripts = (
  given: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, UsageFault, FileSystem.FileSystem | Path.Path> =>
  Effect.forEach(
    given,
    Effect.fnUntraced(function* (name) {
      const files = yield* FileSystem.FileSystem
      const path = (yield* Path.Path).resolve(name)
      const failed = (what: string) => (error: { readonly message: string }) => fault(name, `${what}: ${error.message}`)
      if (!(yield* Effect.mapError(files.exists(path), failed("Failed to check file existence")))) {
        return yield* fault(name, `File does not exist: ${path}`)
      }
      const { type } = yield* Effect.mapError(files.stat(path), failed("Failed to stat file"))
      if (type !== "File") return yield* fault(name, `Path is not a file: ${path}`)
      return yield* Effect.mapError(files.readFileString(path), failed("Failed to read file"))
    })
  )
