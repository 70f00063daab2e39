/**
 * Arguments, checked against the domain before anything is sent: a misspelt field of a create would otherwise be left out of
 * a node that costs money.
 */
import { Effect, Result, Schema, type SchemaAST, type SchemaIssue } from "effect"
import { InvalidRequest } from "../domain/ErrorReason.ts"

/** What a value should be, in words that need no knowledge of schemas. */
const shape = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
      return "a text"
    case "Number":
      return "a number"
    case "Boolean":
      return "true or false"
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Arrays":
      return "a list"
    case "Objects":
      return "an object"
    case "Union": {
      // What may be left out is known to whoever gave it.
      const members = ast.types.filter(({ _tag }) => _tag !== "Undefined")
      const shapes = members.map(shape)
      return members.length > 1 && members.every(({ _tag }) => _tag === "Literal")
        ? `one of ${shapes.join(", ")}`
        : shapes.join(" or ")
    }
    default:
      return "something else"
  }
}

type Fault = readonly [path: ReadonlyArray<PropertyKey>, message: string]

/** Every fault of an issue, where it is and what it is. */
const faultsOf = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey> = []): ReadonlyArray<Fault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsOf(issue.issue, [...path, ...issue.path])
    case "Composite":
      return issue.issues.flatMap((inner) => faultsOf(inner, path))
    case "AnyOf":
      return issue.issues.length === 0
        ? [[path, `expected ${shape(issue.ast)}`]]
        : issue.issues.flatMap((inner) => faultsOf(inner, path))
    case "InvalidType":
      return [[path, `expected ${shape(issue.ast)}`]]
    case "Filter":
      return [[path, `expected ${String(issue.filter.annotations?.["expected"] ?? "something else")}`]]
    case "MissingKey":
      return [[path, "it is needed"]]
    case "UnexpectedKey":
      return [[path, "there is no such field"]]
    default:
      return [[path, "expected something else"]]
  }
}

/** Where a fault is, as a program writes it: `tags[1]`, and `id[1]` within an argument that is a list itself. */
const place = (path: ReadonlyArray<PropertyKey>, name: string) =>
  path.reduce<string>(
    (place, part) =>
      typeof part === "number" ? `${place || name}[${part}]` : place === "" ? String(part) : `${place}.${String(part)}`,
    ""
  ) || name

/** A check of the argument `name` against `schema`: the value, or every field at fault. */
export const argument = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, name: string) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (value: unknown): Effect.Effect<S["Type"], InvalidRequest> => {
    const decoded = decode(value)
    if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
    const fields: Record<string, Array<string>> = {}
    for (const [path, message] of faultsOf(decoded.failure.issue)) (fields[place(path, name)] ??= []).push(message)
    return Effect.fail(new InvalidRequest({ status: null, detail: `${name} is not valid`, fields }))
  }
}
