/**
 * The arguments of a tool: the JSON Schema that a model sees, and the check of what it sends. A model sends anything; what does not fit is
 * refused with the name of the argument, before anything is read or sent.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Predicate, Result } from "effect"

/** An argument: how it is described, and how its value is read. */
export interface Argument<out A> {
  readonly schema: Readonly<Record<string, unknown>>
  readonly isRequired: boolean
  /** The value, or what is expected instead, as the end of a sentence. */
  readonly read: (given: unknown) => Result.Result<A, string>
}

export type Arguments = Readonly<Record<string, Argument<unknown>>>

/** The values of arguments. */
export type Values<A extends Arguments> = { readonly [K in keyof A]: A[K] extends Argument<infer V> ? V : never }

const argument = <A>(
  schema: Argument<A>["schema"],
  is: (given: unknown) => given is A,
  expected: string
): Argument<A | undefined> => ({
  schema,
  isRequired: false,
  read: (given) => (given === undefined || is(given) ? Result.succeed(given) : Result.fail(`expected ${expected}`))
})

/** The same argument, which has to be given. */
export const required = <A>(optional: Argument<A | undefined>): Argument<A> => ({
  schema: optional.schema,
  isRequired: true,
  read: (given) =>
    Result.flatMap(optional.read(given), (value) =>
      value === undefined ? Result.fail("it has to be given") : Result.succeed(value)
    )
})

const maxText = 255

const isText = (given: unknown): given is string =>
  Predicate.isString(given) && given.trim() !== "" && given.length <= maxText

/** A text of 1 to 255 characters that is not blank. */
export const text = (description?: string) =>
  argument(
    { type: "string", ...(description !== undefined && { description }) },
    isText,
    `a text of 1 to ${maxText} characters`
  )

const maxTexts = 20

export const texts = argument(
  { type: "array", items: { type: "string" } },
  (given: unknown): given is ReadonlyArray<string> =>
    Array.isArray(given) && given.length <= maxTexts && given.every(isText),
  `at most ${maxTexts} texts of 1 to ${maxText} characters`
)

/** A whole number from `min` to `max`. */
export const integer = (min: number, max?: number, description?: string) =>
  argument(
    {
      type: "integer",
      minimum: min,
      ...(max !== undefined && { maximum: max }),
      ...(description !== undefined && { description })
    },
    (given: unknown): given is number =>
      Number.isSafeInteger(given) && Number(given) >= min && (max === undefined || Number(given) <= max),
    max === undefined ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`
  )

export const toggle = argument({ type: "boolean" }, Predicate.isBoolean, "true or false")

export const oneOf = <const C extends string>(choices: ReadonlyArray<C>) =>
  argument(
    { type: "string", enum: choices },
    (given: unknown): given is C => (choices as ReadonlyArray<unknown>).includes(given),
    `one of ${choices.join(", ")}`
  )

/** A node by its id or its name, as the argument of a command. */
export const node: Argument<string | undefined> = {
  schema: { type: ["integer", "string"], description: "id or name" },
  isRequired: false,
  read: (given) => {
    if (given === undefined) return Result.succeed(given)
    if (Number.isSafeInteger(given) && Number(given) > 0) return Result.succeed(String(given))
    return isText(given) ? Result.succeed(given) : Result.fail("expected the id or the name of a node")
  }
}

/** The JSON Schema of a tool's arguments. */
export const schemaOf = (parameters: Arguments) => {
  const needed = Object.keys(parameters).filter((name) => parameters[name]?.isRequired)
  return {
    type: "object" as const,
    properties: Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])),
    ...(needed.length > 0 && { required: needed })
  }
}

const shown = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name)

/** The values of a tool's arguments, or what is wrong with them, as a sentence. */
export const readArguments = <const A extends Arguments>(
  parameters: A,
  given: unknown
): Result.Result<Values<A>, string> => {
  if (!Predicate.isObject(given)) return Result.fail("The arguments have to be an object.")
  const names = Object.keys(parameters)
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    return Result.fail(
      `There is no argument ${shown(unknown)}${didYouMean(nearest(unknown.slice(0, 100), names))} It takes ${names.join(", ") || "none"}.`
    )
  }
  const values: Record<string, unknown> = {}
  for (const [name, { read }] of Object.entries(parameters)) {
    const value = read(Object.hasOwn(given, name) ? given[name] : undefined)
    if (Result.isFailure(value)) return Result.fail(`The argument ${name} is not usable: ${value.failure}.`)
    values[name] = value.success
  }
  return Result.succeed(values as Values<A>)
}
