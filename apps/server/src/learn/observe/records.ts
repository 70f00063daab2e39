/**
 * The records of replies, field by field: types, forms, what is null or missing (A8, A9, A10, A13); and the envelope of a
 * success (A1).
 */
import { type Envelope, type EnvelopeKey, type Field, type Form, type Kind } from "../../profile/Profile.ts"
import { instantOf, isObject, type JsonObject, kindOf, sizeOf } from "../../profile/values.ts"
import type { Operation } from "../../faults/operations.ts"
import { type Exchange, isSecretName, isSuccess, json, listIn, listKey, recordsIn } from "./Exchange.ts"
import { type Evidenced, observation, type Observation, type Observer, worst } from "./Observation.ts"
import { asked } from "./paging.ts"

/** Successes of an operation whose body is known. */
export const successes = (evidence: Evidenced, operation: Operation): Evidenced =>
  evidence.filter(
    (each) => each.operation === operation && each.method !== "HEAD" && isSuccess(each) && each.body.is === "json"
  )

/** Records that a shape is read off, at most. */
const maxRecords = 5_000

interface Seen {
  readonly exchange: Exchange
  readonly record: JsonObject
}

const seenIn = (evidence: Evidenced, operation: Operation): ReadonlyArray<Seen> =>
  successes(evidence, operation)
    .flatMap((exchange) => recordsIn(exchange).map((record) => ({ exchange, record })))
    .slice(0, maxRecords)

/** The fields of records, in the order in which they first appear. */
const fieldsOf = (
  records: ReadonlyArray<JsonObject>,
  statuses: ReadonlyArray<string | undefined>,
  depth = 0
): ReadonlyArray<Field> => {
  const names = Array.from(new Set(records.flatMap((record) => Object.keys(record)))).slice(0, 200)
  return names.map((name) => fieldOf(name, records, statuses, depth))
}

const fieldOf = (
  name: string,
  records: ReadonlyArray<JsonObject>,
  statuses: ReadonlyArray<string | undefined>,
  depth: number
): Field => {
  const present = records.flatMap((record, at) =>
    Object.hasOwn(record, name) ? [{ value: record[name], status: statuses[at] }] : []
  )
  const values = present.map(({ value }) => value).filter((value) => value !== null)
  const nulls = present.length - values.length
  const counts = new Map<Kind, number>()
  for (const value of values) counts.set(kindOf(value), (counts.get(kindOf(value)) ?? 0) + 1)
  const kinds = Array.from(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind]) => kind)
  const form = formOf(name, values, records.length)
  const objects = values.filter(isObject)
  const nullIn = nullStatuses(present)
  return {
    name,
    kinds: kinds.length === 0 ? ["null"] : kinds,
    ...(form === undefined ? {} : { form }),
    missing: (records.length - present.length) / records.length,
    null: present.length === 0 ? 0 : nulls / present.length,
    ...(nullIn === undefined ? {} : { nullIn }),
    ...(objects.length > 0 && depth < 4 ? { fields: fieldsOf(objects, [], depth + 1) } : {})
  }
}

/** The statuses in which a field is null, where it depends on nothing else. */
const nullStatuses = (present: ReadonlyArray<{ readonly value: unknown; readonly status: string | undefined }>) => {
  const always = new Set<string>()
  const never = new Set<string>()
  for (const { status, value } of present) if (status !== undefined) (value === null ? always : never).add(status)
  if (always.size === 0 || never.size === 0) return undefined
  return Array.from(always).some((status) => never.has(status)) ? undefined : Array.from(always)
}

/** What may say whose account it is. */
const isPersonal = /@|\d+\.\d+\.\d+\.\d+|:[\da-f]*:/i

const sizes = /memory|ram|disk/
const maxConstantLength = 60

/** What the mock gives a value of its own. Everything else is constant, or empty. */
const meant =
  /^(id|name|label|vcpus|cpus?|memory|ram|disk(_space)?|status|plan|size|region|image|created_at|updated_at|(public|private)_ip_address|ip(_address)?|backups?|backup_ids|(is_)?locked|tags|netmask|gateway|type|slug_name|version|series|price_.*|minimum_billing_amount|committed_.*|os|zone|specs)$/

const formOf = (name: string, values: ReadonlyArray<unknown>, count: number): Form | undefined => {
  const [value] = values
  if (typeof value === "string") {
    const size = sizes.test(name) ? sizeOf(value) : undefined
    if (size !== undefined) {
      const unit = (size.unit ?? (name === "memory" ? "MB" : "GB")) as "GB"
      return { is: "size", unit, decimals: size.decimals, suffix: size.suffix }
    }
    const instant = name.endsWith("_at") ? instantOf(value) : undefined
    if (instant !== undefined)
      return { is: "instant", decimals: instant.decimals, between: instant.between, zone: instant.zone }
  }
  if (typeof value === "number") {
    if (name.endsWith("_at")) return { is: "epoch", unit: value > 1e11 ? "millis" : "seconds" }
    if (/^(memory|ram)$/.test(name)) return { is: "size", unit: value >= 256 ? "MB" : "GB", decimals: 0, suffix: "" }
    if (name.startsWith("disk")) return { is: "size", unit: "GB", decimals: 0, suffix: "" }
  }
  const isSame = values.length === count && count > 1 && new Set(values.map((each) => JSON.stringify(each))).size === 1
  if (typeof value === "string" && isPersonal.test(value)) return undefined
  if (!isSame || meant.test(name) || isSecretName(name) || kindOf(value) === "object") return undefined
  return JSON.stringify(value).length > maxConstantLength ? undefined : { is: "constant", value: value as string }
}

const statusOf = ({ status }: JsonObject): string | undefined => (typeof status === "string" ? status : undefined)

/** The shape of the records of an operation. */
export const recordShape = (evidence: Evidenced, operation: Operation): ReadonlyArray<Field> | undefined => {
  const seen = seenIn(evidence, operation)
  if (seen.length === 0) return undefined
  const records = seen.map(({ record }) => record)
  return fieldsOf(records, records.map(statusOf))
}

/** The keys of a record, in its order. */
export const keys =
  (operation: Operation, expected: ReadonlyArray<string>): Observer<ReadonlyArray<string>> =>
  (evidence) => {
    const found = seenIn(evidence, operation).map(({ exchange, record }) => {
      const names = Object.keys(record)
      const more = names.filter((name) => !expected.includes(name))
      const less = expected.filter((name) => !names.includes(name))
      const says = [
        ...(more.length ? [`further fields: ${more.join(", ")}`] : []),
        ...(less.length ? [`missing: ${less.join(", ")}`] : [])
      ]
      return observation(exchange, names as ReadonlyArray<string>, says.join("; ") || "the fields that are expected")
    })
    return worst(found, (names) => sameSet(names, expected))
  }

export const sameSet = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((name) => other.includes(name))

/** How one field is written, over all records that have it. `read` gives it a name. */
export const field =
  (
    operations: ReadonlyArray<Operation>,
    names: ReadonlyArray<string>,
    read: (value: unknown, operation: Operation) => string | undefined,
    isExpected: (form: string, operation: Operation) => boolean
  ): Observer<boolean> =>
  (evidence) => {
    const found: Array<Observation<boolean>> = []
    for (const operation of operations) {
      for (const { exchange, record } of seenIn(evidence, operation)) {
        for (const name of names) {
          if (!Object.hasOwn(record, name)) continue
          const form = read(record[name], operation)
          if (form === undefined) continue
          found.push(observation(exchange, isExpected(form, operation), `${name} of ${operation}: ${form}`))
        }
      }
    }
    return worst(found, (value) => value)
  }

/** Fields of nodes that are null in some record. */
export const nulls =
  (operations: ReadonlyArray<Operation>): Observer<ReadonlyArray<string>> =>
  (evidence) => {
    const found = operations.flatMap((operation) =>
      seenIn(evidence, operation).map(({ exchange, record }) => {
        const names = Object.keys(record).filter((name) => record[name] === null)
        return observation(
          exchange,
          names as ReadonlyArray<string>,
          names.length === 0 ? "no field is null" : `null in ${operation}: ${names.join(", ")}`
        )
      })
    )
    return worst(found, (names) => names.length === 0)
  }

/** Fields that some records of a list have and others do not. */
export const missing =
  (operations: ReadonlyArray<Operation>): Observer<ReadonlyArray<string>> =>
  (evidence) => {
    const found = operations.flatMap((operation) => {
      const seen = seenIn(evidence, operation)
      const some =
        recordShape(evidence, operation)
          ?.filter((field) => field.missing > 0)
          .map(({ name }) => name) ?? []
      const lacking = seen.find(({ record }) => some.some((name) => !Object.hasOwn(record, name)))
      if (seen.length < 2) return []
      return [
        observation(
          (lacking ?? seen[0]!).exchange,
          some as ReadonlyArray<string>,
          some.length === 0 ? "every record has the same fields" : `missing in some of ${operation}: ${some.join(", ")}`
        )
      ]
    })
    return worst(found, (names) => names.length === 0)
  }

/** The words for the status of nodes. */
export const statusWords =
  (operations: ReadonlyArray<Operation>, expected: ReadonlyArray<string>): Observer<ReadonlyArray<string>> =>
  (evidence) => {
    const seen = operations.flatMap((operation) => seenIn(evidence, operation))
    const words = Array.from(
      new Set(seen.flatMap(({ record }) => ("status" in record ? [String(record["status"])] : [])))
    )
    const odd = seen.find(({ record }) => "status" in record && !expected.includes(String(record["status"])))
    return words.length === 0
      ? undefined
      : observation((odd ?? seen[0]!).exchange, words as ReadonlyArray<string>, `statuses: ${words.join(", ")}`)
  }

/** The envelope of successes of an operation. */
export const envelopeOf = (evidence: Evidenced, operation: Operation): Envelope | undefined => {
  const found = successes(evidence, operation)
  const [exchange] = found
  if (exchange === undefined) return undefined
  const envelope = json(exchange)
  const key = listIn(exchange) === undefined ? "data" : listKey(exchange)
  if (envelope === undefined || key === undefined || !Object.hasOwn(envelope, key)) return "bare"
  return Object.keys(envelope).map((name) => envelopeKey(name, key, found))
}

const envelopeKey = (name: string, dataKey: string, found: Evidenced): EnvelopeKey => {
  if (name === dataKey) return { name, is: "data" }
  const values = found.map((exchange) => json(exchange)?.[name])
  const isCount = values.every((value) => Number.isInteger(value))
  if (isCount && /^total_(page|pages)|pages$|total_page_number/.test(name)) return { name, is: "pages" }
  if (isCount && /total|count/.test(name)) return { name, is: "total" }
  if (isCount && /^(page|page_no|current_page)$/.test(name)) return { name, is: "page" }
  if (isCount && /^(per_page|page_size|limit)$/.test(name)) return { name, is: "size" }
  const isStatus = found.every(({ status }, at) => values[at] === status) && found.some(({ status }) => status !== 200)
  if (isStatus) return { name, is: "status" }
  const [value] = values
  return { name, is: "constant", value: isSecretName(name) || value === undefined ? null : (value as string) }
}

/** A part of the envelope of every success. */
export const envelopePart =
  <A>(
    read: (envelope: JsonObject, exchange: Exchange) => readonly [value: A, says: string] | undefined,
    isExpected: (value: A) => boolean
  ): Observer<A> =>
  (evidence) => {
    const found = evidence.flatMap((exchange) => {
      if (exchange.operation === undefined || !isSuccess(exchange) || exchange.body.is !== "json") return []
      const part = read(json(exchange) ?? {}, exchange)
      return part === undefined ? [] : [observation(exchange, ...part)]
    })
    return worst(found, isExpected)
  }

/** Whether a list of images was asked for without a filter. */
export const isUnfiltered = (exchange: Exchange): boolean =>
  exchange.query.every(([name]) => !["cpu", "ram", "series", "os", "version", "image_type"].includes(name)) &&
  asked(exchange).pageNo === undefined
