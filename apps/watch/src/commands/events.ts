/**
 * `berth-watch events`: prints events of the log, one per line on stdout, as JSON or as CSV for spreadsheets, and the final
 * cursor on stderr.
 */
import * as Csv from "@berthkit/terminal/csv"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { wholeNumberFlag } from "@berthkit/terminal/valueFlags"
import { Effect, Option, Schedule } from "effect"
import { type Command, Flag } from "effect/cli"
import { causes } from "../diff/Cause.ts"
import { typeProblem } from "../deliver/SinkOptions.ts"
import { Stdout } from "../deliver/Stdout.ts"
import { cursorProblem, formatCursor, parseCursor } from "../events/Cursor.ts"
import type { DeliveredEvent } from "../http/records.ts"
import { CommandFailed, endedBy, misused } from "../process/CommandFailed.ts"
import { report } from "../process/report.ts"
import { StopSignal } from "../process/signals.ts"
import type { StoreOptions } from "../settings/storeSettings.ts"
import { textFlag } from "../settings/textFlag.ts"
import { reading } from "./asking.ts"

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  return escapeControls(typeof value === "string" ? Csv.inert(value) : JSON.stringify(value))
}

const nameOf = (record: unknown): unknown =>
  typeof record === "object" && record !== null && "name" in record ? record.name : undefined

const columns: Readonly<Record<string, (event: DeliveredEvent) => unknown>> = {
  time: ({ time }) => time,
  account: ({ source }) => source.replace(/^\/accounts\//, ""),
  sequence: ({ sequence }) => Number(sequence),
  type: ({ type }) => type,
  subject: ({ subject }) => subject,
  name: ({ data }) => nameOf(data["after"]) ?? nameOf(data["before"]),
  from: ({ data }) => data["from"],
  to: ({ data }) => data["to"],
  id: ({ id }) => id,
  data: ({ data }) => data
}

export const csvHeader = Csv.csvLine(Object.keys(columns))

export const csvLine = (event: DeliveredEvent): string =>
  Csv.csvLine(Object.values(columns).map((valueOf) => cellOf(valueOf(event))))

const maxAtOnce = 1000

/** Pause between two reads. Another process commits the events, so this process has to poll. */
const followPause = "500 millis"

export const eventsFlags = {
  after: textFlag("after", "CURSOR", "Only events after this cursor"),
  follow: Flag.Boolean("follow").pipe(
    Flag.withDescription("Keep printing new events until stopped"),
    Flag.withDefault(false)
  ),
  account: textFlag("account", "NAME", "Only events of this account"),
  type: textFlag("type", "TYPE", "Only events of this type, such as berth.node.deleted or 'berth.node.*'"),
  node: wholeNumberFlag("node", 1).pipe(
    Flag.withMetavar("ID"),
    Flag.withDescription("Only events about the node with this id"),
    Flag.optional
  ),
  cause: Flag.Literals("cause", causes).pipe(
    Flag.withDescription("Only deletions with this cause, such as unknown for those that nobody asked for"),
    Flag.optional
  ),
  silenced: textFlag("silenced", "SILENCE", "Only events that the silence with this id kept from a sink"),
  format: Flag.Literals("format", ["ndjson", "csv"]).pipe(
    Flag.withDescription("One JSON document per line, or a table for spreadsheets"),
    Flag.withDefault<"ndjson" | "csv">("ndjson")
  )
}

type EventsOptions = StoreOptions & Command.Command.Config.Infer<typeof eventsFlags>

/** The cursor in a flag, unchanged. */
export const readCursor = (text: string): Effect.Effect<string, CommandFailed> =>
  Effect.mapBoth(Effect.fromOption(parseCursor(text)), {
    onSuccess: formatCursor,
    onFailure: () =>
      misused(cursorProblem(text), "berth-watch events prints the cursor after the last event, such as 42.")
  })

export const events = Effect.fn("events")(function* (options: EventsOptions) {
  const { write } = yield* Stdout
  const { received } = yield* StopSignal
  const filter = {
    account: Option.getOrUndefined(options.account),
    type: Option.getOrUndefined(options.type),
    node: Option.getOrUndefined(options.node),
    cause: Option.getOrUndefined(options.cause),
    silence: Option.getOrUndefined(options.silenced)
  }
  const problem = filter.type === undefined ? null : typeProblem(filter.type)
  if (problem !== null) {
    return yield* misused(
      `--type ${problem}${problem.endsWith("?") ? "" : "."}`,
      "Omit --type, or use a pattern such as berth.node.*."
    )
  }
  const lineOf = options.format === "csv" ? csvLine : (event: DeliveredEvent) => `${JSON.stringify(event)}\n`
  let cursor = yield* readCursor(Option.getOrElse(options.after, () => ""))
  const readAll = reading(options, (daemon) =>
    Effect.gen(function* () {
      for (let more = true; more;) {
        const page = yield* daemon.events({ ...filter, after: cursor, limit: maxAtOnce })
        yield* write(page.events.map(({ event }) => lineOf(event)).join(""))
        cursor = page.next
        more = page.more
      }
    })
  ).pipe(
    // A daemon that shuts down cuts off its reply. A retry gets the answer from another daemon or from the store.
    Effect.retry({
      while: (error) => error instanceof CommandFailed && error.exit === "unavailable",
      times: 2,
      schedule: Schedule.spaced(followPause)
    })
  )
  if (options.format === "csv") yield* Effect.catchTag(write(csvHeader), "StreamClosed", endedBy)
  // Each read looks for a daemon again, so a daemon may start or stop in between.
  const reads = options.follow
    ? Effect.forever(Effect.andThen(readAll, Effect.sleep(followPause)))
    : Effect.asVoid(readAll)
  yield* Effect.catchTag(Effect.raceFirst(reads, received), "StreamClosed", endedBy)
  yield* report(JSON.stringify({ cursor }))
})
