/**
 * Arguments of the promise client, checked against the domain before anything is sent: a misspelt field of a create would
 * otherwise be left out of a node that costs money.
 */
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { InvalidRequest } from "../domain/ErrorReason.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return "it is needed"
      case "UnexpectedKey":
        return "there is no such field"
      default:
        return SchemaIssue.defaultLeafHook(issue).replace(/^Expected/, "expected")
    }
  },
  checkHook: () => undefined
})

const dotted = (path: ReadonlyArray<unknown> | undefined) => (path ?? []).map(String).join(".")

/** A check of the argument `name` against `schema`: the value, or every field at fault. */
export const argument = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, name: string) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (value: unknown): Effect.Effect<S["Type"], InvalidRequest> => {
    const decoded = decode(value)
    if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
    const fields: Record<string, Array<string>> = {}
    for (const { message, path } of format(decoded.failure.issue).issues) {
      ;(fields[dotted(path as ReadonlyArray<unknown> | undefined) || name] ??= []).push(message)
    }
    return Effect.fail(new InvalidRequest({ status: null, detail: `${name} is not valid`, fields }))
  }
}
