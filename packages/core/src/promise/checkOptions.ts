/** Checks the options of the promise client and of its calls, because people without a type checker misspell options. */
import { Duration, Effect, Option, Predicate, Redacted, Result } from "effect"
import { type Headers, headersFault } from "../client/options/Headers.ts"
import { flagFault, functionFault, laneFault, maxAllowedAttempts, wholeFault } from "../client/options/OptionCheck.ts"
import type { Lane } from "../domain/Lane.ts"
import { pathFault } from "../client/options/pathFault.ts"
import { stateDirectoryFault } from "../client/StateDirectory.ts"
import { checkRuntime } from "../client/options/Runtime.ts"
import { type ClientOptions as EngineOptions, settingsFrom } from "../client/options/Settings.ts"
import { ensureAllowanceFile } from "./fromEnvironment.ts"
import { InvalidOption, RuntimeTooOld } from "./Failure.ts"
import type { ClientOptions, Logger, LogLevel } from "./Client.ts"
import { logLevels } from "./logging.ts"

/** Checks each given option and refuses unknown names. Throws `InvalidOption`. */
const check = <C extends Checks>(operation: string, options: unknown, checks: C): Checked<C> => {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new InvalidOption(operation, "options", "expected an object")
  }
  const checked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      throw new InvalidOption(operation, name, `there is no such option; there are ${Object.keys(checks).join(", ")}`)
    }
    if (value !== undefined) checked[name] = checks[name]!(operation, name, value)
  }
  return checked as Checked<C>
}

/** Reads a `Duration` above 0. Throws `InvalidOption`. */
const timespan = (operation: string, option: string, value: unknown): Duration.Duration => {
  const readable = typeof value === "string" || (typeof value === "number" && !Number.isNaN(value))
  const duration = readable ? Duration.fromInput(value as Duration.Input) : Option.none()
  if (Option.isSome(duration) && Duration.toMillis(duration.value) > 0) return duration.value
  throw new InvalidOption(operation, option, 'expected milliseconds above 0, or a text such as "30 seconds"')
}

/** Returns the value of an option if it has no fault. Throws `InvalidOption`. */
const valid =
  <A>(faultOf: (value: unknown) => string | undefined) =>
  (operation: string, option: string, value: unknown): A => {
    const fault = faultOf(value)
    if (fault === undefined) return value as A
    throw new InvalidOption(operation, option, fault)
  }

const lane = valid<Lane>(laneFault)
export const text = valid<string>((value) => (typeof value === "string" ? undefined : "expected a text"))
export const flag = valid<boolean>(flagFault)
/** Accepts a whole number from 1 to `max`. */
export const wholeNumber = (max = Number.MAX_SAFE_INTEGER) => valid<number>(wholeFault(max))
const func = valid<(value: unknown) => unknown>(functionFault)
const headers = valid<Headers>(headersFault)

/** Accepts a signal of any realm: the getter works only on a real signal. Throws `InvalidOption`. */
const signal = (operation: string, option: string, value: unknown): AbortSignal => {
  try {
    Reflect.get(AbortSignal.prototype, "aborted", value)
    return value as AbortSignal
  } catch {
    throw new InvalidOption(operation, option, "expected an AbortSignal")
  }
}

/**
 * Wraps a callback of the caller, which then cannot end a call: if it throws or its promise rejects, the error becomes
 * a warning, once per call. The call does not wait for the promise. Throws `InvalidOption` unless it is a function.
 */
export const listener =
  (redact: (text: string) => string) =>
  (operation: string, option: string, value: unknown): ((argument: unknown) => Effect.Effect<void>) => {
    const callback = func(operation, option, value)
    let warned = false
    const warn = (why: string) => {
      if (warned) return Effect.void
      warned = true
      return Effect.logWarning(`The listener ${option} of ${operation} failed: ${redact(why)}`)
    }
    return (argument) =>
      Effect.tryPromise({
        try: async () => void (await callback(argument)),
        catch: (error) => (error instanceof Error ? error.message : String(error))
      }).pipe(Effect.catch(warn), Effect.forkDetach({ startImmediately: true }), Effect.asVoid)
  }

/** Checks one option: returns its value in the engine's form, or throws `InvalidOption`. */
type Check<A> = (operation: string, option: string, value: unknown) => A

/** Checks of options by their names. */
type Checks = Readonly<Record<string, Check<unknown>>>

/** The given options, after these checks. */
export type Checked<C extends Checks> = { readonly [Name in keyof C]?: ReturnType<C[Name]> }

/** Checks for a call that sends no request. */
export const ofSignal = { signal }

/** Checks for a wait, which shares its requests with other calls. */
export const ofWait = { signal, deadline: timespan, lane, timeout: timespan }

/** Checks for every other call. */
export const ofCall = {
  signal,
  deadline: timespan,
  lane,
  maxAttempts: wholeNumber(maxAllowedAttempts),
  attemptTimeout: timespan,
  headers
}

const noOptions = {}

/** Makes the check for the options of one call; undefined counts as no options. The check throws `InvalidOption`. */
export const checkCall =
  <C extends Checks>(operation: string, checks: C) =>
  (options: unknown): Checked<C> =>
    options === undefined ? (noOptions as Checked<C>) : check(operation, options, checks)

/** Returns the value unchecked, for options that the engine checks itself. */
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
  project: asItIs,
  location: asItIs,
  deadline: timespan,
  attemptTimeout: timespan,
  lane,
  stateDirectory: valid<string>(stateDirectoryFault),
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

/** Checks the options of a client. Throws `InvalidOption` and `RuntimeTooOld`. */
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
  if (stateDirectory === "auto") ensureAllowanceFile(operation, (path) => pathFault(path, "a path"))
  return { engine, settings: settings.success, fetch, logger, logLevel, onAttempt, onReply, stateDirectory }
}
