/**
 * How a run of `learn` can end apart from success and failure. This module stands alone so that the program can choose an exit code without
 * loading the rest of `learn`.
 */
import { Data } from "effect"

/** The user answered a question with no. The program exits with 130. */
export class Declined extends Data.TaggedError("Declined")<{ readonly message: string }> {}

/** `learn --check` found that the service has changed. The program exits with 11. */
export class ServiceMoved extends Data.TaggedError("ServiceMoved")<{ readonly message: string }> {}
