/** How often and how carefully `run` polls. */
import { durationText } from "@berthkit/terminal/duration"
import { durationFlag, wholeNumberFlag } from "@berthkit/terminal/valueFlags"
import { Duration } from "effect"
import { type Command, Flag } from "effect/cli"
import { defaultAccount } from "../config/Config.ts"

/** With fewer requests per hour no account can be watched. */
const minRequestsPerHour = 60

const maxMillis = 86_400_000

/** A flag with a duration. Without the flag, the value comes from the config, or is derived from the size of the account. */
const millisFlag = (name: string, minMillis: number, description: string, byDefault: string) =>
  durationFlag(name, { minMillis, maxMillis }).pipe(
    Flag.map((duration): number | null => Duration.toMillis(duration)),
    Flag.withDescription(`${description} (default: ${byDefault})`),
    Flag.withDefault(null)
  )

const bySize = "from the size of the account"
const byConfig = (millis: number) => `from the config, or ${durationText(millis)}`

export const runFlags = {
  intervalMillis: millisFlag(
    "interval",
    100,
    "Time from the start of one sweep (a read of the whole list) to the next",
    bySize
  ),
  fastIntervalMillis: millisFlag("fast-interval", 100, "Time between polls of a node that is changing", bySize),
  graceMillis: millisFlag(
    "grace",
    0,
    "Time between the two 404s that confirm a deletion",
    byConfig(defaultAccount.graceMillis)
  ),
  holdMillis: millisFlag(
    "hold",
    0,
    "If many nodes vanish from the list at once, how long to wait before reporting them as deleted",
    byConfig(defaultAccount.holdMillis)
  ),
  requestsPerHour: wholeNumberFlag("requests-per-hour", minRequestsPerHour).pipe(
    Flag.map((requests): number | null => requests),
    Flag.withDescription(
      "Maximum number of requests in any hour (default: the share in the config, or 60% of the limit that the service reports)"
    ),
    Flag.withDefault(null)
  )
}

/** The values of the flags, which apply to every account; null if the config decides. Times are in milliseconds. */
export type RunSettings = Command.Command.Config.Infer<typeof runFlags>
