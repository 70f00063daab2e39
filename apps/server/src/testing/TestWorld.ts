/**
 * A world of a test: its credentials, its clock, and its control plane. The world is deleted when the test's scope closes.
 * If the test has failed, the world's options and journal are printed first.
 */
import { type DateTime, Duration, Effect, Exit, Redacted, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ClockChange, ClockChanged } from "../control/ClockGroup.ts"
import { ControlApi } from "../control/ControlApi.ts"
import type { Fault } from "../injection/catalogue.ts"
import type { JournalEntry } from "../journal/JournalEntry.ts"
import { WorldOptions } from "../world/WorldOptions.ts"

/**
 * The options of a test's world: the options of the control plane in decoded form. There are no credentials, because the server chooses
 * them. Everything has a default.
 */
export interface TestWorldOptions extends Omit<WorldOptions, "apiKey" | "accessToken"> {
  /**
   * How the world's time passes. Default: `frozen`, at `startAt` or 2026-01-01T00:00:00.000Z. With `real` it follows the
   * `Clock` of the test.
   */
  readonly clock?: Exclude<WorldOptions["clock"], undefined>
}

/** The body of `POST /_mock/worlds`, decoded. */
export const worldOptions = (options: TestWorldOptions): WorldOptions => ({ clock: "frozen", ...options })

/** The typed client of the control plane. */
export type ControlClient = HttpApiClient.ForApi<typeof ControlApi>

export const makeControlClient = (httpClient: HttpClient.HttpClient, baseUrl: string): Effect.Effect<ControlClient> =>
  HttpApiClient.makeWith(ControlApi, { httpClient, baseUrl })

/** A world for one test. */
export interface TestWorld {
  /** The name of the world on the control plane. */
  readonly id: string
  /** Scheme and host, without a path. It is the same for all worlds of a server. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  /** The world's current instant. */
  readonly now: Effect.Effect<DateTime.Utc>
  /** Moves the world's clock on and returns the new instant. */
  readonly advance: (by: Duration.Input) => Effect.Effect<DateTime.Utc>
  /** Moves the world's clock to an instant, which must not be in the past. Returns the new instant. */
  readonly advanceTo: (instant: DateTime.DateTime.Input) => Effect.Effect<DateTime.Utc>
  /** Moves the clock to the next event, and returns all events of that instant; none if there is no next event. */
  readonly advanceToNextEvent: Effect.Effect<ReadonlyArray<WorldEvent>>
  /** Arms these faults and disarms all others. Each fault counts from now on. `[]` disarms all faults. */
  readonly arm: (faults: ReadonlyArray<Fault>) => Effect.Effect<void>
  /** The requests to the world, oldest first, at most the latest thousand. */
  readonly journal: Effect.Effect<ReadonlyArray<JournalEntry>>
  /** Seed, armed faults and journal as text, to find out why a test failed. */
  readonly explain: Effect.Effect<string>
  /** The control plane of the server, for everything else. Its endpoints take `params: { world: id }`. */
  readonly control: ControlClient
}

/** Something that happens in a world without a request. */
type WorldEvent = NonNullable<(typeof ClockChanged.Type)["events"]>[number]

/** A handle on an existing world. Failures of the control plane are defects, because no test expects them. */
export const bindWorld = (
  control: ControlClient,
  made: Pick<TestWorld, "id" | "baseUrl" | "apiKey" | "accessToken">
): TestWorld => {
  const params = { world: made.id }
  const change = (payload: typeof ClockChange.Type) => Effect.orDie(control.clock.change({ params, payload }))
  return {
    ...made,
    now: Effect.orDie(Effect.map(control.clock.read({ params }), ({ now }) => now)),
    // Refuse NaN, which Effect would treat as zero.
    advance: (by) =>
      Number.isNaN(by)
        ? Effect.die(new TypeError("Expected the duration of advance, not NaN."))
        : Effect.map(change({ advance: Duration.fromInputUnsafe(by) }), ({ now }) => now),
    advanceTo: (instant) => Effect.map(change({ advanceTo: instant }), ({ now }) => now),
    advanceToNextEvent: Effect.map(change({ advanceTo: "next-event" }), ({ events }) => events ?? []),
    arm: (faults) => Effect.orDie(Effect.asVoid(control.faults.arm({ params, payload: faults }))),
    journal: Effect.orDie(
      Effect.map(control.requests.read({ params, query: {} }), ({ requests }) => requests.filter(isRequest))
    ),
    explain: Effect.orDie(
      Effect.map(
        Effect.all([control.requests.read({ params, query: {} }), control.faults.read({ params })]),
        ([{ requests, seed }, faults]) => explain(made.id, seed, faults, requests)
      )
    ),
    control
  }
}

/** Whether an entry is a request of the service and not a change by the control plane. */
export const isRequest = ({ change }: Pick<JournalEntry, "change">): boolean => change === undefined

/** An armed fault, whatever its kind. */
interface Counted {
  readonly id: string
  readonly seen: number
  readonly fired: number
}

const withoutCounts = ({ fired: _fired, id: _id, seen: _seen, ...fault }: Counted) => fault

/**
 * The world as text, without credentials: one line for each request, with the reply if it is a failure. If the world has
 * ended, its faults are unknown.
 */
export const explain = (
  id: string,
  seed: number,
  armed: ReadonlyArray<Counted> | undefined,
  requests: ReadonlyArray<JournalEntry>
): string =>
  [
    `The world ${id} has the seed ${seed}.`,
    armed === undefined
      ? "It has ended."
      : armed.length === 0
        ? "No fault is armed."
        : `Armed: PUT /_mock/worlds/${id}/faults ${JSON.stringify(armed.map(withoutCounts))}`,
    `Requests, ${requests.filter(isRequest).length}:`,
    ...requests.map(({ at, body, bodyBytes, change, faults, method, path, query, reply, replyBytes, seq, status }) => {
      const search = new URLSearchParams(query).toString()
      const what = change === undefined ? faults : [`the world was ${change}`]
      const why = what.length === 0 ? "" : ` (${what.join(", ")})`
      return `  ${seq} ${at} ${method} ${path}${search === "" ? "" : `?${search}`}${body === null ? "" : ` ${body}`}${cutAfter(bodyBytes)} → ${status ?? "nothing"}${why}${reply === null || reply === "" ? "" : ` ${reply}${cutAfter(replyBytes)}`}`
    })
  ].join("\n")

const cutAfter = (bytes: number | undefined): string => (bytes === undefined ? "" : `… (${bytes} bytes)`)

const showOptions = Schema.encodeSync(Schema.fromJsonString(WorldOptions))

/** Makes a world that is deleted when the scope closes. */
export const makeTestWorld = (control: ControlClient, baseUrl: string, options: TestWorldOptions) => {
  const payload = worldOptions(options)
  return Effect.acquireRelease(
    Effect.map(Effect.orDie(control.worlds.make({ payload })), ({ accessToken, apiKey, id }) =>
      bindWorld(control, { id, baseUrl, apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) })
    ),
    (world, exit) =>
      Effect.andThen(
        Exit.isSuccess(exit)
          ? Effect.void
          : Effect.map(
              Effect.catchCause(world.explain, () => Effect.succeed("")),
              (explained) => {
                // Do not use Effect's console, because a test may have replaced it.
                process.stderr.write(
                  `The world of the failed test began as POST /_mock/worlds ${showOptions(payload)}\n${explained}\n`
                )
              }
            ),
        Effect.ignore(control.worlds.delete({ params: { world: world.id } }))
      )
  )
}
