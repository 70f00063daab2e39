/**
 * Why the server did not start, in one line. It exits with 2.
 */
import { Data } from "effect"

export class StartFailure extends Data.TaggedError("StartFailure")<{ readonly message: string }> {}
