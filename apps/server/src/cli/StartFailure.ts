/**
 * Why the server did not start, in one line. It exits with 2.
 */
import { Data, Effect, FileSystem } from "effect"

export class StartFailure extends Data.TaggedError("StartFailure")<{ readonly message: string }> {}

/** A question was answered with no. The program exits with 130. */
export class Declined extends Data.TaggedError("Declined")<{ readonly message: string }> {}

/** `learn --check` found that the service has changed. The program exits with 1. */
export class ServiceMoved extends Data.TaggedError("ServiceMoved")<{ readonly message: string }> {}

/** The text of a file that a flag names. */
export const readFlagFile = (flag: string, file: string) =>
  Effect.mapError(
    FileSystem.FileSystem.use((fs) => fs.readFileString(file)),
    ({ reason }) => {
      const why = reason._tag === "NotFound" ? "there is no such file" : reason._tag
      return new StartFailure({ message: `${flag}: cannot read ${file}: ${why}` })
    }
  )
