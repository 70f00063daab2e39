/**
 * A tool of `berth mcp`: the arguments shown to the model and their validation, the outline of the result, and the tool's action.
 * `serve.ts` offers the tools over the protocol. A model may send anything, so a bad value is refused, with the name of its argument,
 * before anything is read or sent.
 */
import { readFields } from "@berthkit/core/api/readFields"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect, Predicate, Result, Schema } from "effect"
import type { McpSchema } from "effect/ai"
import { UsageFault } from "../../failure/CliFailure.ts"
import type { Failure } from "../../failure/Problem.ts"

/** A JSON object: a schema, or a tool's result. */
export type Data = Readonly<Record<string, unknown>>

/** The arguments of a tool. Each has one type and only keywords that all model hosts accept. */
type Arguments = Schema.Struct<Schema.Struct.Fields> & { readonly DecodingServices: never }

/**
 * The wording for an argument: the error for a value that has another type or fails a check, and the description that the model reads
 * before it writes a value.
 */
const saying = (expected: string, description?: string) => ({
  message: `Expected ${expected}`,
  ...(description !== undefined && { description })
})

/** The same argument, but required. */
export const required = <S extends Schema.Top>(optional: Schema.optionalKey<S>) =>
  Schema.requiredKey(optional).annotateKey({ messageMissingKey: "It is required" })

const maxText = 255

/** A non-blank string. */
const textOf = (expected: string, description?: string) =>
  Schema.String.annotate(saying(expected, description)).check(
    Schema.makeFilter((given) => given.trim() !== "" && given.length <= maxText, saying(expected))
  )

export const text = (description?: string) =>
  Schema.optionalKey(textOf(`a text of 1 to ${maxText} characters`, description))

const maxTexts = 20
const textsExpected = `at most ${maxTexts} texts of 1 to ${maxText} characters`

export const texts = Schema.optionalKey(
  Schema.Array(textOf(textsExpected))
    .annotate(saying(textsExpected))
    .check(Schema.makeFilter(({ length }) => length <= maxTexts, saying(textsExpected)))
)

/** A whole number. */
export const integer = (minimum: number, maximum?: number, description?: string) => {
  const bounds = { minimum, ...(maximum !== undefined && { maximum }) }
  const expected = `a whole number from ${minimum}${maximum === undefined ? "" : ` to ${maximum}`}`
  return Schema.optionalKey(
    Schema.Number.annotate(saying(expected, description)).check(
      Schema.isInt({ ...saying(expected), toJsonSchema: () => ({ type: "integer", ...bounds }) }),
      Schema.makeFilter((given) => given >= minimum && given <= (maximum ?? given), saying(expected))
    )
  )
}

export const toggle = Schema.optionalKey(Schema.Boolean.annotate(saying("true or false")))

export const oneOf = <const C extends string>(choices: ReadonlyArray<C>) =>
  Schema.optionalKey(Schema.Literals(choices).annotate(saying(`one of ${choices.join(", ")}`)))

/** A node by its name or its id. */
export const node = Schema.optionalKey(textOf("the id or the name of a node", "id or name"))

/** The JSON Schema of a tool's arguments. */
export const inputSchemaOf = (parameters: Arguments) => {
  const { properties, required } = Schema.toJsonSchemaDocument(parameters).schema
  return {
    type: "object" as const,
    properties: properties as Readonly<Record<string, Data>>,
    ...(Array.isArray(required) && { required })
  }
}

/** Converts values that some hosts send in another form: numbers and booleans as strings, and ids as numbers. */
const meaningOf = (type: unknown, given: unknown): unknown => {
  if (type === "string") return Number.isSafeInteger(given) && Number(given) > 0 ? String(given) : given
  if (type === "integer") return Predicate.isString(given) && /^\s*-?\d{1,15}\s*$/.test(given) ? Number(given) : given
  return type === "boolean" && (given === "true" || given === "false") ? given === "true" : given
}

const shown = (name: string): string => (name.length > 40 ? `${name.slice(0, 40)}…` : name)

/**
 * Reads the values of a tool's arguments, or says in a sentence what is wrong with them. Some hosts send null for an argument that the
 * model left out.
 */
const argumentReader = <const A extends Arguments>(parameters: A) => {
  const names = Object.keys(parameters.fields)
  const { properties } = inputSchemaOf(parameters)
  const read = readFields(parameters)
  return (given: unknown): Result.Result<A["Type"], string> => {
    if (!Predicate.isObject(given)) return Result.fail("The arguments have to be an object.")
    const unknown = Object.keys(given).find((name) => !names.includes(name))
    if (unknown !== undefined) {
      return Result.fail(
        `There is no argument ${shown(unknown)}${didYouMean(nearest(unknown.slice(0, 100), names))} It takes ${names.join(", ") || "none"}.`
      )
    }
    const meant = Object.entries(given)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, meaningOf(properties[name]?.["type"], value)])
    const { errors, fields } = read(Object.fromEntries(meant))
    for (const [name, [sentence = ""]] of Object.entries(errors)) {
      return Result.fail(
        `The argument ${name} is not usable: ${sentence.replace(/^./, (letter) => letter.toLowerCase())}`
      )
    }
    return Result.succeed(fields as A["Type"])
  }
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

/** The schema of a result with several parts. All parts are required except `node`. */
export const parts = (properties: Readonly<Record<string, Data>>): Data => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => name !== "node")
})

/** Omits `node` if it is null, because null would be a second type of that part. */
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
  /** The hints to the host. Default: the hints of a tool that changes nothing. */
  readonly annotations?: typeof reading
}

export interface Tool<out R> extends Required<Definition<Arguments>> {
  readonly run: (given: unknown) => Effect.Effect<Answer, Failure, R>
}

/** A tool whose arguments are checked before it runs. */
export const tool = <const A extends Arguments, E extends Failure, R>(
  definition: Definition<A>,
  run: (values: A["Type"]) => Effect.Effect<Answer, E, R>
): Tool<R> => {
  const read = argumentReader(definition.parameters)
  return {
    annotations: reading,
    ...definition,
    run: (given): Effect.Effect<Answer, Failure, R> => {
      const values = read(given)
      return Result.isFailure(values)
        ? new UsageFault({ message: values.failure, hint: `See the description of ${definition.name}.` })
        : run(values.success)
    }
  }
}
