/**
 * Checks what a client is made from: gives the options as the engine takes them, the logger and the callbacks.
 */
import { Predicate, Redacted, Result } from "effect"
import { stateDirectoryFault } from "../client/StateDirectory.ts"
import { checkRuntime } from "../client/options/Runtime.ts"
import { type ClientOptions as EngineOptions, settingsFrom } from "../client/options/Settings.ts"
import { InvalidOption, RuntimeTooOld } from "./Failure.ts"
import { check, type Checks, func, lane, text, timespan, valid } from "./CallOptions.ts"
import type { ClientOptions, Logger, LogLevel } from "./Client.ts"
import { logLevels } from "./logging.ts"

/** What the engine checks itself. */
const asItIs = (_operation: string, _option: string, value: unknown) => value as never

const address = valid<string | URL>((value) =>
  typeof value === "string" || value instanceof URL ? undefined : "expected an address"
)

const logger = valid<Logger>((value) =>
  Predicate.isObjectOrArray(value) &&
  ["debug", "info", "warn"].every((level) => Predicate.isFunction((value as Record<string, unknown>)[level]))
    ? undefined
    : "expected an object with the methods debug, info and warn"
)

const logLevel = valid<LogLevel>((value) =>
  logLevels.some((level) => level === value) ? undefined : `expected one of ${logLevels.join(", ")}`
)

const checks = {
  baseUrl: address,
  apiKey: text,
  accessToken: text,
  account: asItIs,
  deadline: timespan,
  attemptTimeout: timespan,
  lane,
  stateDirectory: valid<string>(stateDirectoryFault),
  allowanceFile: asItIs,
  maxAttempts: asItIs,
  headers: asItIs,
  userAgent: asItIs,
  maxBodyBytes: asItIs,
  maxBodyTokens: asItIs,
  fetch: func as (...of: Parameters<typeof func>) => typeof globalThis.fetch,
  onAttempt: func,
  onReply: func,
  logger,
  logLevel
} satisfies Checks

/** Throws `InvalidOption` and `RuntimeTooOld`. */
export const checkClient = (operation: string, options: ClientOptions) => {
  const runtime = checkRuntime()
  if (Result.isFailure(runtime)) throw new RuntimeTooOld(operation, runtime.failure)
  const given = check(operation, options, checks)
  const { accessToken, apiKey, baseUrl, fetch, logger, logLevel, onAttempt, onReply, stateDirectory, ...limits } = given
  const needed = <A>(option: string, value: A | undefined): A => {
    if (value === undefined) throw new InvalidOption(operation, option, "it is needed")
    return value
  }
  const engine: EngineOptions = {
    baseUrl: needed("baseUrl", baseUrl),
    credentials: {
      apiKey: Redacted.make(needed("apiKey", apiKey)),
      accessToken: Redacted.make(needed("accessToken", accessToken))
    },
    ...limits
  }
  const settings = settingsFrom(engine)
  if (Result.isFailure(settings)) throw new InvalidOption(operation, settings.failure.option, settings.failure.detail)
  return { engine, settings: settings.success, fetch, logger, logLevel, onAttempt, onReply, stateDirectory }
}
