/**
 * A tool of `berth mcp`: the arguments shown to the model and their validation, the outline of the result, and the tool's action.
 * `serve.ts` offers the tools over the protocol. A model may send anything; bad values are refused by argument name before anything is read
 * or sent.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect, Predicate, Result, Schema } from "effect"
import type { McpSchema } from "effect/ai"
import { UsageFault } from "../../failure/CliFailure.ts"
import type { Failure } from "../../failure/Problem.ts"

/** A JSON object: a schema, or a tool's result. */
export type Data = Readonly<Record<string, unknown>>

/** An argument's schema and its parser. */
interface Argument<out A> {
  readonly schema: Data
  readonly isRequired: boolean
  /** The value, or what is expected instead, as the end of a sentence. */
  readonly read: (given: unknown) => Result.Result<A, string>
}

type Arguments = Readonly<Record<string, Argument<unknown>>>

/** The values of arguments. */
export type Values<A extends Arguments> = { readonly [K in keyof A]: A[K] extends Argument<infer V> ? V : never }

/**
 * Makes an argument. Every schema has one type and uses only keywords that all model hosts accept. `meaning` converts values that some
 * hosts send in another form, such as "true".
 */
const argument = <A>(
  schema: Argument<A>["schema"],
  is: (given: unknown) => given is A,
  expected: string,
  meaning: (given: unknown) => unknown = (given) => given
): Argument<A | undefined> => ({
  schema,
  isRequired: false,
  read: (given) => {
    const meant = given === undefined ? undefined : meaning(given)
    return meant === undefined || is(meant) ? Result.succeed(meant) : Result.fail(`expected ${expected}`)
  }
})

/** The same argument, but required. */
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

const asNumber = (given: unknown): unknown =>
  Predicate.isString(given) && /^\s*-?\d{1,15}\s*$/.test(given) ? Number(given) : given

const asBoolean = (given: unknown): unknown => (given === "true" ? true : given === "false" ? false : given)

/** A whole number from `min` to `max`, or its digits as a text. */
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
    max === undefined ? `a whole number from ${min}` : `a whole number from ${min} to ${max}`,
    asNumber
  )

export const toggle = argument({ type: "boolean" }, Predicate.isBoolean, "true or false", asBoolean)

export const oneOf = <const C extends string>(choices: ReadonlyArray<C>) =>
  argument(
    { type: "string", enum: choices },
    (given: unknown): given is C => (choices as ReadonlyArray<unknown>).includes(given),
    `one of ${choices.join(", ")}`
  )

/** A node by its name or its id, which may be a number, as the argument of a command. */
export const node = argument(
  { type: "string", description: "id or name" },
  isText,
  "the id or the name of a node",
  (given) => (Number.isSafeInteger(given) && Number(given) > 0 ? String(given) : given)
)

/** The JSON Schema of a tool's arguments. */
export const inputSchemaOf = (parameters: Arguments) => {
  const needed = Object.keys(parameters).filter((name) => parameters[name]?.isRequired)
  return {
    type: "object" as const,
    properties: Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema])),
    ...(needed.length > 0 && { required: needed })
  }
}

const shown = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name)

/** The values of a tool's arguments, or what is wrong with them, as a sentence. */
const readArguments = <const A extends Arguments>(parameters: A, given: unknown): Result.Result<Values<A>, string> => {
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
    // Hosts send null for what the model left out.
    const value = read(Object.hasOwn(given, name) ? (given[name] ?? undefined) : undefined)
    if (Result.isFailure(value)) return Result.fail(`The argument ${name} is not usable: ${value.failure}.`)
    values[name] = value.success
  }
  return Result.succeed(values as Values<A>)
}

/** Follows a reference to a definition in the same schema. */
const resolved = (schema: unknown, definitions: Data): Data => {
  let found = schema
  while (Predicate.isObject(found) && Predicate.isString(found["$ref"])) {
    found = definitions[found["$ref"].replace(/^#\/\$defs\//, "")]
  }
  return Predicate.isObject(found) ? found : {}
}

/**
 * The outline of a record for a tool's description: the keys that each record always has. The full schemas of `berth schema` would cost
 * 8000 tokens in every conversation, so they are available as an MCP resource instead.
 */
export const keysOf = (schema: Schema.Top): Data => {
  const { definitions, schema: record } = Schema.toJsonSchemaDocument(schema)
  return { type: "object", required: resolved(record, definitions)["required"] }
}

/** A result with several parts. All are required except `node`. */
export const parts = (properties: Readonly<Record<string, Data>>): Data => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => name !== "node")
})

/** Omits `node` if it is null, because null would be a second type. */
export const withoutNoNode = ({ node, ...rest }: Data): Data => (node === null ? rest : { ...rest, node })

export const listOf = (items: Data): Data => ({ type: "array", items })

/** A tool's answer: its result, or a request for a person's input. */
export type Answer = Data | McpSchema.InputRequired

/** The hints to the host for a tool that changes nothing here or at the service. */
export const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

interface Definition<A extends Arguments> {
  readonly name: string
  readonly description: string
  readonly parameters: A
  readonly output: Data
  /** The hints to the host; by default those of a tool that changes nothing. */
  readonly annotations?: typeof reading
}

export interface Tool<out R> extends Required<Definition<Arguments>> {
  readonly run: (given: unknown) => Effect.Effect<Answer, Failure, R>
}

/** A tool whose arguments are checked before it runs. */
export const tool = <const A extends Arguments, E extends Failure, R>(
  definition: Definition<A>,
  run: (values: Values<A>) => Effect.Effect<Answer, E, R>
): Tool<R> => ({
  annotations: reading,
  ...definition,
  run: (given): Effect.Effect<Answer, Failure, R> => {
    const values = readArguments(definition.parameters, given)
    return Result.isFailure(values)
      ? new UsageFault({ message: values.failure, hint: `See the description of ${definition.name}.` })
      : run(values.success)
  }
})
