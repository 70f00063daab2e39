/**
 * The request path: every call of every service goes through this one pipeline. Its order is its documentation.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { BerthApi } from "../api/BerthApi.ts"
import { BerthError } from "../domain/BerthError.ts"
import { TimedOut } from "../domain/ErrorReason.ts"
import { attempt, type Ledger, type Reply } from "./Attempt.ts"
import { authenticated } from "./Authentication.ts"
import type { Operation, Send } from "./Operation.ts"
import { redactor } from "./Redaction.ts"
import { type ClientOptions, type InvalidOption, settingsFrom } from "./Settings.ts"

/** What can be asked of one call. */
export interface CallOptions {
  /** Longest time this call may take altogether. Default: that of the client. */
  readonly deadline?: Duration.Input | undefined
}

/** The client derived from the interface; it builds requests, and leaves every reply to the engine. */
export type Wire = HttpApiClient.ForApi<typeof BerthApi>

export class Engine extends Context.Service<
  Engine,
  {
    /** Makes one call: sends what `send` sends, as often as the rules allow, and reads the reply. */
    readonly call: <A>(
      operation: Operation<A>,
      send: Send,
      options?: CallOptions
    ) => Effect.Effect<Reply<A>, BerthError>
    /** Builds and sends the requests of the interface, authenticated. */
    readonly wire: Wire
    /** Sends any request below the service's address, authenticated. */
    readonly http: HttpClient.HttpClient
  }
>()("@berth/core/client/Engine") {
  static readonly layer = (options: ClientOptions): Layer.Layer<Engine, InvalidOption, HttpClient.HttpClient> =>
    Layer.effect(
      Engine,
      Effect.gen(function* () {
        const settings = yield* Effect.fromResult(settingsFrom(options))
        const redact = redactor(settings.credentials)
        // The spans are the engine's own: those of HttpClient hold whole addresses and unmasked causes, and send ours along.
        const untraced = HttpClient.transformResponse(
          yield* HttpClient.HttpClient,
          Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
        )
        const http = authenticated(settings)(untraced)
        const wire = yield* HttpApiClient.makeWith(BerthApi, { httpClient: http })

        const call = <A>(operation: Operation<A>, send: Send, options?: CallOptions) =>
          Effect.suspend(() => {
            const deadline = Duration.fromInputUnsafe(options?.deadline ?? settings.deadline)
            return Effect.flatMap(Clock.currentTimeMillis, (startedAtMillis) => {
              const ledger: Ledger = { startedAtMillis, attempts: [] }
              return attempt(operation, send, settings, redact, ledger).pipe(
                // Admission belongs here, inside the retries: every attempt spends allowance.
                // Retries belong here, and nowhere else: one layer that sends again, so attempts never multiply.
                // The circuit breaker belongs here: it counts calls and not attempts.
                // Outermost, so that no wait of any step above outlives the caller's patience.
                Effect.timeoutOrElse({
                  duration: deadline,
                  orElse: () =>
                    Effect.fail(
                      new TimedOut({ limit: "deadline", afterMillis: Duration.toMillis(deadline), sent: "maybe" })
                    )
                }),
                Effect.mapError(
                  (reason) => new BerthError({ operation: operation.name, reason, attempts: ledger.attempts })
                ),
                Effect.withSpan(operation.name)
              )
            })
          })

        return Engine.of({ call, wire, http })
      })
    )
}
