/**
 * Calls a function of the caller's with each attempt that has ended.
 */
import { Effect, Layer, References } from "effect"
import { apiKeyParameter } from "../api/Routes.ts"
import { Observer } from "../client/telemetry/Observer.ts"
import type { Redact } from "../client/transport/Redaction.ts"
import type { AttemptReport } from "./Client.ts"
import { plain } from "./Plain.ts"

/** Observes a client for `report`, whose effect ends at once. The address is made anew, for the one on the wire has the key. */
export const attemptReports = (
  origin: string,
  redact: Redact,
  report: (attempt: AttemptReport) => Effect.Effect<void>
): Layer.Layer<never> =>
  Layer.succeed(Observer, {
    attempted: (operation, _lane, attempts, { method, path, query }) => {
      const search = new URLSearchParams(query.map(([name, value]) => [name, value]))
      const url = `${origin}${path}?${search.size === 0 ? "" : `${search}&`}${apiKeyParameter}=<redacted>`
      const reported = report({ operation, method, url: redact(url), ...plain(attempts.at(-1)!, redact) })
      Effect.runFork(Effect.provideService(reported, References.LogToStderr, true))
    },
    drifted: () => {},
    traced: () => (effect) => effect,
    annotated: () => Effect.void
  })
