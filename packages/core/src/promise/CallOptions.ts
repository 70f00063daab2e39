/**
 * The options of every call of the promise client, checked: people without a type checker misspell options too.
 */
import { Duration, Effect, Option } from "effect"
import { type Headers, headersFault } from "../client/options/Headers.ts"
import { flagFault, functionFault, laneFault, maxAllowedAttempts, wholeFault } from "../client/options/OptionCheck.ts"
import type { Lane } from "../domain/Lane.ts"
import { InvalidOption } from "./Failure.ts"

/** Checks the options that are given by their names, and refuses unknown ones. Throws `InvalidOption`. */
export const check = <C extends Checks>(operation: string, options: unknown, checks: C): Checked<C> => {
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

/** A length of time as a `Duration`, longer than nothing. Throws `InvalidOption`. */
export const timespan = (operation: string, option: string, value: unknown): Duration.Duration => {
  const readable = typeof value === "string" || (typeof value === "number" && !Number.isNaN(value))
  const duration = readable ? Duration.fromInput(value as Duration.Input) : Option.none()
  if (Option.isSome(duration) && Duration.toMillis(duration.value) > 0) return duration.value
  throw new InvalidOption(operation, option, 'expected milliseconds above 0, or a text such as "30 seconds"')
}

/** The value of an option that has no fault. Throws `InvalidOption`. */
export const valid =
  <A>(faultOf: (value: unknown) => string | undefined) =>
  (operation: string, option: string, value: unknown): A => {
    const fault = faultOf(value)
    if (fault === undefined) return value as A
    throw new InvalidOption(operation, option, fault)
  }

export const lane = valid<Lane>(laneFault)
export const text = valid<string>((value) => (typeof value === "string" ? undefined : "expected a text"))
export const flag = valid<boolean>(flagFault)
/** A whole number from 1. */
export const wholeNumber = (max = Number.MAX_SAFE_INTEGER) => valid<number>(wholeFault(max))
export const func = valid<(value: unknown) => unknown>(functionFault)
const headers = valid<Headers>(headersFault)

/** A signal, of any realm: only a real one has what its getter reads. Throws `InvalidOption`. */
const signal = (operation: string, option: string, value: unknown): AbortSignal => {
  try {
    Reflect.get(AbortSignal.prototype, "aborted", value)
    return value as AbortSignal
  } catch {
    throw new InvalidOption(operation, option, "expected an AbortSignal")
  }
}

/**
 * A callback of the caller's, which cannot end a call: what it throws, or its promise rejects with, becomes a warning, once per
 * call. Its promise is not waited for. Throws `InvalidOption` for what is no function.
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

/** Checks one option: gives its value as the engine takes it, or throws `InvalidOption`. */
type Check<A> = (operation: string, option: string, value: unknown) => A

/** Checks of options by their names. */
export type Checks = Readonly<Record<string, Check<unknown>>>

/** The options that `checks` check, as far as they are given. */
export type Checked<C extends Checks> = { readonly [Name in keyof C]?: ReturnType<C[Name]> }

/** Checks for a call that makes no request and so waits for no turn. */
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

/** A check of the options of one call, which there need not be. Throws `InvalidOption`. */
export const checkCall =
  <C extends Checks>(operation: string, checks: C) =>
  (options: unknown): Checked<C> =>
    options === undefined ? (noOptions as Checked<C>) : check(operation, options, checks)
