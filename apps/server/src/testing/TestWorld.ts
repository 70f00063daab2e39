/**
 * A world of a test: its credentials, its clock, and the control plane behind them. It goes when the test's scope closes,
 * and if the test failed it first says how to get it back.
 */
import { type DateTime, Duration, Effect, Exit, Redacted, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import type { ClockChange, ClockChanged } from "../control/ClockGroup.ts"
import { ControlApi } from "../control/ControlApi.ts"
import { WorldOptions } from "../control/WorldOptions.ts"
import { type TestWorldOptions, worldOptions } from "./TestWorldOptions.ts"

/** The typed client of the control plane. */
export type ControlClient = HttpApiClient.ForApi<typeof ControlApi>

export const makeControlClient = (httpClient: HttpClient.HttpClient, baseUrl: string): Effect.Effect<ControlClient> =>
  HttpApiClient.makeWith(ControlApi, { httpClient, baseUrl })

export interface TestWorld {
  /** What the control plane calls it. */
  readonly id: string
  /** Scheme and host, without a path; all worlds of a server share it. */
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  /** The world's present instant. */
  readonly now: Effect.Effect<DateTime.Utc>
  /** Moves the world's clock on and gives its new instant. */
  readonly advance: (by: Duration.Input) => Effect.Effect<DateTime.Utc>
  /** Moves the clock to where next something happens by itself, and gives what does; nothing when nothing will. */
  readonly advanceToNextEvent: Effect.Effect<ReadonlyArray<WorldEvent>>
  /** Everything else: the control plane of the server. Its endpoints take `params: { world: id }`. */
  readonly control: ControlClient
}

/** Something that happened in a world by itself. */
export type WorldEvent = NonNullable<(typeof ClockChanged.Type)["events"]>[number]

/** A world that exists, by its id. What goes wrong on the way to the control plane is a defect: no test expects it. */
export const bindWorld = (
  control: ControlClient,
  made: {
    readonly id: string
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
    readonly accessToken: Redacted.Redacted
  }
): TestWorld => {
  const params = { world: made.id }
  const change = (payload: typeof ClockChange.Type) => Effect.orDie(control.clock.change({ params, payload }))
  return {
    ...made,
    now: Effect.orDie(Effect.map(control.clock.read({ params }), ({ now }) => now)),
    advance: (by) => Effect.map(change({ advance: Duration.fromInputUnsafe(by) }), ({ now }) => now),
    advanceToNextEvent: Effect.map(change({ advanceTo: "next-event" }), ({ events }) => events ?? []),
    control
  }
}

const showOptions = Schema.encodeSync(Schema.fromJsonString(WorldOptions))

/** Makes a world that lives as long as the scope. */
export const makeTestWorld = (control: ControlClient, baseUrl: string, options: TestWorldOptions) => {
  const payload = worldOptions(options)
  return Effect.acquireRelease(
    Effect.map(Effect.orDie(control.worlds.make({ payload })), ({ accessToken, apiKey, id }) =>
      bindWorld(control, {
        id,
        baseUrl,
        apiKey: Redacted.make(apiKey),
        accessToken: Redacted.make(accessToken)
      })
    ),
    (world, exit) =>
      Effect.andThen(
        Exit.isSuccess(exit)
          ? Effect.void
          : Effect.sync(() => {
              // Not to the console of Effect, which a test may have replaced: this is for whoever reads the failure.
              process.stderr.write(`The world of the failed test began as POST /_mock/worlds ${showOptions(payload)}\n`)
            }),
        Effect.ignore(control.worlds.delete({ params: { world: world.id } }))
      )
  )
}
