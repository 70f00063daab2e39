/**
 * How often and how carefully `run` polls.
 */
import { durationText } from "@berth/terminal/duration"
import { durationFlag } from "@berth/terminal/durationFlag"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Duration } from "effect"
import { Flag } from "effect/cli"
import { defaultRequestsPerHour } from "../observe/RequestShare.ts"

/** With fewer requests than this no account is kept in view. */
const minRequestsPerHour = 60

const maxMillis = 86_400_000

const millisFlag = (name: string, defaultMillis: number, minMillis: number, description: string) =>
  durationFlag(name, { minMillis, maxMillis }).pipe(
    Flag.map(Duration.toMillis),
    Flag.withDescription(`${description} (default ${durationText(defaultMillis)})`),
    Flag.withDefault(defaultMillis)
  )

/** Without a value it is derived from the size of the account. */
const derivedFlag = (name: string, description: string) =>
  durationFlag(name, { minMillis: 100, maxMillis }).pipe(
    Flag.map((duration): number | null => Duration.toMillis(duration)),
    Flag.withDescription(`${description} (default: from the size of the account)`),
    Flag.withDefault(null)
  )

export const runFlags = {
  intervalMillis: derivedFlag("interval", "From the start of one sweep of the whole list to the next"),
  fastIntervalMillis: derivedFlag("fast-interval", "Between polls of a node that is changing"),
  graceMillis: millisFlag("grace", 60_000, 0, "Minimum time between the two 404s that confirm a deletion"),
  holdMillis: millisFlag("hold", 600_000, 0, "How long a list too short to be believed has to stay so"),
  requestsPerHour: wholeNumberFlag("requests-per-hour", minRequestsPerHour).pipe(
    Flag.withDescription(`Maximum number of requests within any hour (default ${defaultRequestsPerHour})`),
    Flag.withDefault(defaultRequestsPerHour)
  )
}

/** All in milliseconds, as the flags give them. */
export interface RunSettings {
  /** Null derives it. */
  readonly intervalMillis: number | null
  /** Null derives it. */
  readonly fastIntervalMillis: number | null
  readonly graceMillis: number
  readonly holdMillis: number
  readonly requestsPerHour: number
}
