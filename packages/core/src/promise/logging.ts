/**
 * The logger of a program receives a line for each attempt, and the warnings. Errors that the logger throws are ignored, because there is
 * no other place to report them.
 */
import { Layer, Logger as EffectLogger, References } from "effect"
import type { AttemptReport, Logger, LogLevel } from "./Client.ts"

/** The levels, from the one with the most lines to the one with the fewest. */
export const logLevels = ["debug", "info", "warn", "off"] as const satisfies ReadonlyArray<LogLevel>

const line = ({ backoffMillis, durationMillis, method, number, operation, outcome, status, url }: AttemptReport) => {
  const after = backoffMillis > 0 ? `, after a pause of ${backoffMillis} ms` : ""
  const ended = outcome === "ok" ? `${status}` : `${outcome}${status === null ? "" : ` (${status})`}`
  return `${operation}: attempt ${number}, ${method} ${url}: ${ended} in ${durationMillis} ms${after}`
}

const guarded = (log: () => void): void => {
  try {
    log()
  } catch {
    // There is no other place to report the error.
  }
}

/** Logs each attempt: a success at `debug`, anything else at `info`. */
export const attemptLog =
  (logger: Logger, level: LogLevel) =>
  (attempt: AttemptReport): void => {
    const at = attempt.outcome === "ok" ? "debug" : "info"
    if (logLevels.indexOf(level) <= logLevels.indexOf(at)) guarded(() => logger[at](line(attempt), attempt))
  }

/** Sends warnings to the logger, or without one to stderr, because stdout belongs to the program. */
export const warnings = (logger: Logger | undefined, level: LogLevel): Layer.Layer<never> =>
  logger === undefined
    ? Layer.succeed(References.LogToStderr, true)
    : EffectLogger.layer([
        EffectLogger.make(({ message }) => {
          if (level !== "off") guarded(() => logger.warn([message].flat().map(String).join(" ")))
        })
      ])
