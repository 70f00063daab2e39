/**
 * Checks of options that the compiler has checked already, for programs without one: a call with an unusable option is not
 * sent, and fails with the option's name.
 */
import { Duration, Effect, Predicate } from "effect"
import { pageSize } from "../../api/Routes.ts"
import { BerthError } from "../../domain/BerthError.ts"
import { InvalidRequest } from "../../domain/ErrorReason.ts"
import { lanes } from "../../domain/Lane.ts"

/** What is wrong with an option's value; undefined when nothing is. */
type Check = (value: unknown) => string | undefined

/** Longer than nothing, in any of the ways in which Effect writes a length of time. */
export const timespanFault: Check = (value) => {
  const duration = Duration.fromInput(value as Duration.Input)
  return duration._tag === "Some" && Duration.toMillis(duration.value) > 0
    ? undefined
    : 'expected a duration longer than nothing, such as "30 seconds"'
}

export const laneFault: Check = (value) =>
  lanes.some((lane) => lane === value) ? undefined : `expected one of ${lanes.join(", ")}`

const functionFault: Check = (value) => (Predicate.isFunction(value) ? undefined : "expected a function")

/** A whole number from 1. */
export const wholeFault =
  (max: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= max
      ? undefined
      : `expected a whole number from 1${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`

export const countFault = wholeFault(Number.MAX_SAFE_INTEGER)
const flagFault: Check = (value) => (Predicate.isBoolean(value) ? undefined : "expected true or false")

const checks = {
  page: countFault,
  perPage: wholeFault(pageSize.maximum),
  deadline: timespanFault,
  timeout: timespanFault,
  lane: laneFault,
  retry: flagFault,
  exact: flagFault,
  maxNodes: countFault,
  skuId: countFault,
  // Whoever keeps it says what it may be.
  key: () => undefined,
  onReply: functionFault,
  onEnd: functionFault,
  onObserved: functionFault
}

const isName = (name: string): name is keyof typeof checks => Object.hasOwn(checks, name)

const refused = (name: string, fault: string) =>
  new InvalidRequest({ status: null, detail: `${name} is not usable`, fields: { [name]: [fault] } })

/** Why a call cannot be made with these options: the first that is unusable; undefined when they all are. */
export const optionFault = (options: { readonly [Name in keyof typeof checks]?: unknown }):
  | InvalidRequest
  | undefined => {
  for (const name of Object.keys(options)) {
    // A misspelt `key` that is left out makes a second node.
    if (!isName(name)) return refused(name, "there is no such option")
    const value = options[name]
    const fault = value === undefined ? undefined : checks[name](value)
    if (fault !== undefined) return refused(name, fault)
  }
  return undefined
}

/** Fails for options that no call can be made with. */
export const checked = (options: Parameters<typeof optionFault>[0] | undefined): Effect.Effect<void, InvalidRequest> =>
  Effect.suspend(() => {
    const fault = options && optionFault(options)
    return fault === undefined ? Effect.void : Effect.fail(fault)
  })

/** What cannot be sent, as the error of its call. */
export const unsent = (operation: string) =>
  Effect.mapError((reason: InvalidRequest) => new BerthError({ operation, reason, attempts: [] }))
