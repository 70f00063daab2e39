/**
 * How a run of `learn` ends where it neither succeeds nor fails. It loads nothing else, because the program that ends by it has
 * its exit codes at hand before it loads the rest.
 */
import { Data } from "effect"

/** A question was answered with no. The program exits with 130. */
export class Declined extends Data.TaggedError("Declined")<{ readonly message: string }> {}

/** `learn --check` found that the service has changed. The program exits with 11. */
export class ServiceMoved extends Data.TaggedError("ServiceMoved")<{ readonly message: string }> {}
