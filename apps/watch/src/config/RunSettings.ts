/**
 * How eagerly and how carefully `run` watches.
 */
import { Flag } from "effect/cli"
import { defaultRequestsPerHour } from "../poll/Budget.ts"
import { durationFlag } from "./durationFlag.ts"

/** Fewer requests than this keep no account in view. */
const fewestRequestsPerHour = 60

export const runFlags = {
  intervalMillis: durationFlag("interval", "30s", 100, "From the start of one sweep of the whole list to the next"),
  fastIntervalMillis: durationFlag("fast-interval", "1s", 100, "Between looks at a node that is changing"),
  graceMillis: durationFlag("grace", "5s", 0, "How long a node has to answer 404 before it counts as deleted"),
  holdMillis: durationFlag("hold", "10m", 0, "How long a list too short to be believed has to stay so"),
  requestsPerHour: Flag.Int("requests-per-hour").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`Most requests within any hour (default ${defaultRequestsPerHour})`),
    Flag.withDefault(defaultRequestsPerHour),
    Flag.filter(
      (requests) => requests >= fewestRequestsPerHour,
      () => `Expected ${fewestRequestsPerHour} or more`
    )
  )
}

/** All in milliseconds, as the flags give them. */
export interface RunSettings {
  readonly intervalMillis: number
  readonly fastIntervalMillis: number
  readonly graceMillis: number
  readonly holdMillis: number
  readonly requestsPerHour: number
}
