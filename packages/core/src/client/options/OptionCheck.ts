/**
 * Validates options for programs without a compiler: a call with an unusable option is not sent, and fails with the option's name.
 */
import { Duration, Effect, Predicate } from "effect"
import { pageSize } from "../../api/Routes.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { InvalidRequest } from "../../domain/ErrorReason.ts"
import { lanes } from "../../domain/Lane.ts"
import { headersFault } from "./Headers.ts"

/** Maximum number of attempts of a call. With any jitter they span at least 6 s, in which a service may restart. */
export const maxAllowedAttempts = 8

/** Returns what is wrong with an option's value; undefined if nothing is. */
export type Check = (value: unknown) => string | undefined

/** Accepts a duration above zero, in any of Effect's notations. */
export const timespanFault: Check = (value) => {
  const duration = Duration.fromInput(value as Duration.Input)
  return duration._tag === "Some" && Duration.toMillis(duration.value) > 0
    ? undefined
    : 'expected a duration above zero, such as "30 seconds"'
}

export const laneFault: Check = (value) =>
  lanes.some((lane) => lane === value) ? undefined : `expected one of ${lanes.join(", ")}`

/** Accepts a function. */
export const functionFault: Check = (value) => (Predicate.isFunction(value) ? undefined : "expected a function")

/** Accepts a whole number from 1 to `max`. */
export const wholeFault =
  (max: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= max
      ? undefined
      : `expected a whole number from 1${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`

export const countFault = wholeFault(Number.MAX_SAFE_INTEGER)
export const attemptsFault = wholeFault(maxAllowedAttempts)
export const flagFault: Check = (value) => (Predicate.isBoolean(value) ? undefined : "expected true or false")

const checks = {
  page: countFault,
  perPage: wholeFault(pageSize.maximum),
  deadline: timespanFault,
  totalDeadline: timespanFault,
  timeout: timespanFault,
  lane: laneFault,
  retry: flagFault,
  maxAttempts: attemptsFault,
  attemptTimeout: timespanFault,
  headers: headersFault,
  onAttempt: functionFault,
  exact: flagFault,
  maxNodes: countFault,
  skuId: countFault,
  keepPublicIp: flagFault,
  // The intent store checks the key.
  key: () => undefined,
  adoptOnly: flagFault,
  plans: () => undefined,
  onReply: functionFault,
  onEnd: functionFault,
  onObserved: functionFault
}

const isName = (name: string): name is keyof typeof checks => Object.hasOwn(checks, name)

const refused = (name: string, fault: string) =>
  new InvalidRequest({ status: null, detail: `${name} is not usable`, fields: { [name]: [fault] } })

/** What is wrong with the first unusable option; undefined if all are usable. */
export const optionFault = (options: { readonly [Name in keyof typeof checks]?: unknown }):
  | InvalidRequest
  | undefined => {
  for (const name of Object.keys(options)) {
    // Ignoring a misspelt `key` would create a second node.
    if (!isName(name)) return refused(name, "there is no such option")
    const value = options[name]
    const fault = value === undefined ? undefined : checks[name](value)
    if (fault !== undefined) return refused(name, fault)
  }
  return undefined
}

/** Fails for unusable options. */
export const checked = (options: Parameters<typeof optionFault>[0] | undefined): Effect.Effect<void, InvalidRequest> =>
  Effect.suspend(() => {
    const fault = options && optionFault(options)
    return fault === undefined ? Effect.void : Effect.fail(fault)
  })

/** Turns the reason why a request cannot be sent into the error of its call. */
export const unsent = (operation: string) =>
  Effect.mapError((reason: InvalidRequest) => new BerthError({ operation, reason, attempts: [] }))
