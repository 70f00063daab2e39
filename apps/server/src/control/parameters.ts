/**
 * Checks the query of a request to the control plane. It reports every invalid parameter, including unknown ones, because a
 * misspelt filter that filters nothing would mislead a test.
 */
import { Result, Schema, SchemaAST } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { failureResponse } from "../http/failures.ts"
import { fieldErrors } from "@berthkit/core/api/readFields"
import { type Endpoint, fits, segmentsOf } from "@berthkit/web/paths"

/**
 * Makes the check for these endpoints. The check returns the refusal of an invalid query; undefined if the query is valid or
 * no endpoint matches.
 */
export const checkParameters = (endpoints: ReadonlyArray<Endpoint>) => {
  const checks = endpoints.map(({ method, path, query }) => ({ method, form: segmentsOf(path), check: check(query) }))
  return ({ method, url }: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse | undefined => {
    const at = url.indexOf("?")
    if (at < 0) return undefined
    const asked = method === "HEAD" ? "GET" : method
    const path = segmentsOf(url.slice(0, at))
    return checks.find((one) => one.method === asked && fits(one.form, path))?.check(url.slice(at + 1))
  }
}

const wholeNumber = /^-?\d+$/

const check = (query: Schema.Top | undefined) => {
  const fields = namesOf(query ?? Schema.Struct({})).sort()
  const known = new Set(fields)
  const decode = Schema.decodeUnknownResult((query ?? Schema.Struct({})) as Schema.Codec<object>, { errors: "all" })
  return (search: string): HttpServerResponse.HttpServerResponse | undefined => {
    const given = Map.groupBy(new URLSearchParams(search), ([name]) => name)
    const errors = new Map<string, ReadonlyArray<string>>()
    const values: Record<string, string> = {}
    for (const [name, pairs] of given) {
      const [[, value]] = pairs as [[string, string]]
      if (!known.has(name)) errors.set(name, [`Unknown parameter: ${takes(fields)}.`])
      else if (pairs.length > 1) errors.set(name, ["The parameter is given more than once."])
      else if (value === "") errors.set(name, ["The value is empty."])
      else values[name] = value
    }
    const decoded = decode(values)
    const read: object = Result.getOrElse(decoded, () => ({}))
    for (const [name, value] of Object.entries(read)) {
      if (typeof value === "number" && !wholeNumber.test(values[name]!)) errors.set(name, ["Expected a whole number."])
    }
    if (Result.isFailure(decoded)) {
      for (const [name, sentences] of Object.entries(fieldErrors(decoded.failure.issue))) errors.set(name, sentences)
    }
    if (errors.size === 0) return undefined
    // A whole number that is refused is out of bounds. Any other refused value cannot be parsed (assumption A4 in
    // docs/interface/assumptions.md).
    const isOutOfBounds = [...errors.keys()].every((name) => wholeNumber.test(values[name] ?? ""))
    return failureResponse(isOutOfBounds ? 422 : 400, sentenceOf([...errors.keys()]), {
      errors: Object.fromEntries(errors)
    })
  }
}

const namesOf = (query: Schema.Top): Array<string> => {
  const encoded = SchemaAST.toEncoded(query.ast)
  return SchemaAST.isObjects(encoded) ? encoded.propertySignatures.map(({ name }) => String(name)) : []
}

const takes = (fields: ReadonlyArray<string>): string =>
  fields.length === 0 ? "the path takes none" : `the path takes ${fields.join(", ")}`

const sentenceOf = (names: ReadonlyArray<string>): string =>
  names.length === 1 ? `The parameter ${names[0]} is not valid.` : `The parameters ${names.join(", ")} are not valid.`
