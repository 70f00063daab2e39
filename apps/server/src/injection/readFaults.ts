/**
 * Parses faults: a JSON array in the control plane, or `NAME:option=value…` after `--fault`. It reports every invalid name,
 * option and value.
 */
import type { FieldErrors } from "@berthkit/core/api/Envelope"
import { Predicate, Result, type Schema } from "effect"
import { type AnyFault, indexBeyondPatternCost, maxFaults, tooMuchToMatch } from "../faults/Fault.ts"
import type { Operation } from "@berthkit/profile/operations"
import { strictReader } from "@berthkit/core/api/readFields"
import { type Fault, kindByName } from "./catalogue.ts"

const readers = new Map(
  [...kindByName].map(([name, { schema }]) => [name, strictReader(schema as Schema.Codec<Fault, unknown>)])
)

const knownFields: ReadonlySet<string> = new Set(
  [...kindByName.values()].flatMap(({ schema }) => Object.keys(schema.fields))
)

/** Problems for input that does not name a fault: the fields that no fault has. */
const fieldsOfNoFault = (given: object): FieldErrors =>
  Object.fromEntries(
    Object.keys(given).flatMap((name) => (knownFields.has(name) ? [] : [[name, ["There is no such field."]]]))
  )

/** One fault, or its problems by option. Problems of the name are under `fault`. */
const readFault = (given: unknown): Result.Result<Fault, FieldErrors> => {
  if (!Predicate.isObject(given)) return Result.fail({ fault: ["A fault is an object with its name under fault."] })
  const name = Object.hasOwn(given, "fault") ? given["fault"] : undefined
  const read = Predicate.isString(name) ? readers.get(name) : undefined
  if (read === undefined) {
    const sentence = Predicate.isString(name)
      ? `There is no fault ${JSON.stringify(name.slice(0, 50))}; berth-server faults lists them.`
      : "The name of the fault is missing."
    return Result.fail({ fault: [sentence], ...fieldsOfNoFault(given) })
  }
  return Result.flatMap(read(given), firesSomewhere)
}

/** The operations whose requests name a node by its id. A create is not one of them, because its node has no id yet. */
const aboutNodeById: ReadonlyArray<Operation> = ["nodes.get", "nodes.delete", "commitments.set"]
const aboutNodeByName: ReadonlyArray<Operation> = ["nodes.create", ...aboutNodeById]

/** Rejects a scope in which the fault can never fire, because such a scope is surely a mistake. */
const firesSomewhere = (fault: Fault): Result.Result<Fault, FieldErrors> => {
  const only = kindByName.get(fault.fault)?.only
  const { node, operation } = fault.scope ?? {}
  const asked = typeof operation === "string" ? [operation] : operation
  if (only !== undefined && asked?.every((one) => only.includes(one)) === false) {
    return Result.fail({ "scope.operation": [`The fault ${fault.fault} fires only at ${only.join(", ")}.`] })
  }
  const aboutNode = typeof node === "number" ? aboutNodeById : aboutNodeByName
  return node === undefined || (asked ?? only ?? aboutNode).some((one) => aboutNode.includes(one))
    ? Result.succeed(fault)
    : Result.fail({
        "scope.node": [
          `Only ${aboutNode.join(", ")} name a node by its ${typeof node === "number" ? "id" : "name"}: the fault would never fire.`
        ]
      })
}

const tooMany = `At most ${maxFaults} faults may be armed.`

/** All faults in a request body, or the problems by place, such as `1.status` for an option of the second fault. */
export const readFaults = (body: unknown): Result.Result<ReadonlyArray<Fault>, FieldErrors> => {
  if (!Array.isArray(body)) return Result.fail({ detail: ["The body must be a JSON array of faults."] })
  if (body.length > maxFaults) return Result.fail({ detail: [tooMany] })
  const errors: Record<string, ReadonlyArray<string>> = {}
  const faults: Array<Fault> = []
  for (const [index, given] of body.entries()) {
    const fault = readFault(given)
    if (Result.isSuccess(fault)) faults.push(fault.success)
    else for (const [option, sentences] of Object.entries(fault.failure)) errors[`${index}.${option}`] = sentences
  }
  if (Object.keys(errors).length > 0) return Result.fail(errors)
  const beyond = indexBeyondPatternCost(faults)
  return beyond < 0 ? Result.succeed(faults) : Result.fail({ [`${beyond}.scope.header`]: [`${tooMuchToMatch}.`] })
}

/** Parses one fault that is to be armed in addition to those that are armed already. */
export const readFurtherFault = (body: unknown, armed: ReadonlyArray<AnyFault>): Result.Result<Fault, FieldErrors> => {
  if (armed.length >= maxFaults) return Result.fail({ detail: [tooMany] })
  return Result.flatMap(readFault(body), (fault) =>
    indexBeyondPatternCost([...armed, fault]) < 0
      ? Result.succeed(fault)
      : Result.fail({ "scope.header": [`${tooMuchToMatch}.`] })
  )
}

const scopeOptions = new Set(["operation", "node", "header"])

/** Options that consist of parts, as in `headers=retry-after=7`. */
const partedOptions = new Set(["errors", "headers"])

const readValue = (text: string): unknown => {
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text)
  if (text === "true" || text === "false") return text === "true"
  return text.includes(",") ? text.split(",") : text
}

/** Joins the parts of a JSON body again if the body was split at its colons. */
const withWholeBody = (parts: ReadonlyArray<string>): ReadonlyArray<string> => {
  const start = parts.findIndex((part) => /^body=[[{"]/.test(part))
  for (let end = start + 1; start >= 0 && end <= parts.length; end++) {
    const body = parts.slice(start, end).join(":")
    if (Result.isSuccess(Result.try((): unknown => JSON.parse(body.slice("body=".length)))))
      return [...parts.slice(0, start), body, ...parts.slice(end)]
  }
  return parts
}

/** Parses `status:status=503:times=2:operation=nodes.list`. Triggers and parts of the scope are written like options. */
export const readFaultFlag = (text: string): Result.Result<Fault, string> => {
  // A value, such as an instant, may contain colons, so only a colon before `name=` separates.
  const [name, ...parts] = text.split(/:(?=[A-Za-z]+=)/)
  const options = withWholeBody(parts).map((part) => {
    const at = part.indexOf("=")
    return [part.slice(0, at), part.slice(at + 1)] as const
  })
  const read = readFault(faultOf(name!, options, readValue))
  if (Result.isSuccess(read)) return Result.succeed(read.success)
  // A value that looks like a number may be meant as text, so invalid options are parsed again, as text.
  const asWritten = (value: string, option: string) =>
    option in read.failure || `scope.${option}` in read.failure ? value : readValue(value)
  return Result.mapError(
    Result.orElse(readFault(faultOf(name!, options, asWritten)), () => read),
    (errors) =>
      Object.entries(errors)
        .map(([option, [sentence]]) => (option === "fault" ? sentence : `${option}: ${sentence}`))
        .join(" ")
  )
}

/** The faults of all flags, or the problems of the first invalid flag. */
export const readFaultFlags = (texts: ReadonlyArray<string>): Result.Result<ReadonlyArray<Fault>, string> => {
  if (texts.length > maxFaults) return Result.fail(tooMany)
  return Result.flatMap(Result.all(texts.map(readFaultFlag)), (faults) =>
    indexBeyondPatternCost(faults) < 0 ? Result.succeed(faults) : Result.fail(`header: ${tooMuchToMatch}.`)
  )
}

/** A record with one more part. If the name repeats, the values become a list. */
const withPart = (record: unknown, name: string, part: string): Readonly<Record<string, unknown>> => {
  const before = Predicate.isObject(record) ? record : {}
  return { ...before, [name]: Object.hasOwn(before, name) ? [before[name], part].flat() : part }
}

const faultOf = (
  name: string,
  options: ReadonlyArray<readonly [option: string, value: string]>,
  read: (value: string, option: string) => unknown
): unknown => {
  const fault: Record<string, unknown> = { fault: name }
  const scope: Record<string, unknown> = {}
  for (const [option, value] of options) {
    const [, name, part] = /^([^=]*)=(.*)$/s.exec(value) ?? []
    if (option === "header") scope["header"] = withPart(scope["header"], name ?? value, part ?? "*")
    else if (partedOptions.has(option) && part !== undefined) fault[option] = withPart(fault[option], name!, part)
    else if (option === "body")
      fault["body"] = Result.getOrElse(
        Result.try(() => JSON.parse(value)),
        () => value
      )
    else if (scopeOptions.has(option)) scope[option] = read(value, option)
    else fault[option] = read(value, option)
  }
  return Object.keys(scope).length === 0 ? fault : { ...fault, scope }
}
