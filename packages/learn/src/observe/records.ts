/**
 * The records of replies, field by field: types, formats, null or missing values (assumptions A8, A9, A10, A13 in
 * docs/interface/assumptions.md); and the envelope of a success (A1).
 */
import { CreatedNode, ListedNode, NodeAttributes } from "@berthkit/core/api/NodeRecords"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { type Envelope, type EnvelopeKey, type Field, type Form, type Kind } from "@berthkit/profile/Profile"
import { isObject, type JsonObject, kindOf } from "@berthkit/profile/values"
import { instantOf, sizeOf } from "./formats.ts"
import type { Operation } from "@berthkit/profile/operations"
import { type Exchange, isSuccess, json, listIn, listKey, recordsIn } from "./Exchange.ts"
import { claim, type Evidenced, is, observation, type Observer, once } from "./Claim.ts"
import { asked } from "./lists.ts"

/** Successful replies with a known body, by operation. */
const byOperation = once((evidence) =>
  Map.groupBy(
    evidence.filter((each) => each.method !== "HEAD" && isSuccess(each) && each.body.is === "json"),
    ({ operation }) => operation
  )
)

/** The successful replies of an operation. */
export const successes = (evidence: Evidenced, operation: Operation): Evidenced =>
  byOperation(evidence).get(operation) ?? []

/** Maximum number of records from which a shape is derived. */
const maxRecords = 5_000

interface Seen {
  readonly exchange: Exchange
  readonly record: JsonObject
}

const seenIn = (evidence: Evidenced, operation: Operation): ReadonlyArray<Seen> =>
  successes(evidence, operation)
    .flatMap((exchange) => recordsIn(exchange).map((record) => ({ exchange, record })))
    .slice(0, maxRecords)

/** The fields of records, in the order of the record with the most fields. */
const fieldsOf = (
  records: ReadonlyArray<JsonObject>,
  statuses: ReadonlyArray<string | undefined>,
  depth = 0
): ReadonlyArray<Field> => {
  const keys = records.map((record) => Object.keys(record))
  const most = keys.reduce((a, b) => (b.length > a.length ? b : a), [])
  const names = Array.from(new Set([...most, ...keys.flat()])).slice(0, 200)
  return names.map((name) => fieldOf(name, records, statuses, depth))
}

/** Whether a string means that there is no address. */
const isNoAddress = (name: string, value: unknown): boolean =>
  name.endsWith("_ip_address") && (value === "" || value === "[]")

const fieldOf = (
  name: string,
  records: ReadonlyArray<JsonObject>,
  statuses: ReadonlyArray<string | undefined>,
  depth: number
): Field => {
  const present = records.flatMap((record, at) =>
    Object.hasOwn(record, name) ? [{ value: record[name], status: statuses[at] }] : []
  )
  const isNone = (value: unknown) => value === null || isNoAddress(name, value)
  const values = present.map(({ value }) => value).filter((value) => !isNone(value))
  const nulls = present.length - values.length
  const nullText = present.find(({ value }) => isNoAddress(name, value))?.value as string | undefined
  const counts = new Map<Kind, number>()
  for (const value of values) counts.set(kindOf(value), (counts.get(kindOf(value)) ?? 0) + 1)
  const kinds = Array.from(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind]) => kind)
  const form = formOf(name, values, records.length)
  const objects = values.filter(isObject)
  const nullIn = nullStatuses(present.map(({ status, value }) => ({ status, isNone: isNone(value) })))
  return {
    name,
    kinds: kinds.length === 0 ? ["null"] : kinds,
    ...(form === undefined ? {} : { form }),
    missing: (records.length - present.length) / records.length,
    null: present.length === 0 ? 0 : nulls / present.length,
    ...(nullIn === undefined ? {} : { nullIn }),
    ...(nullText === undefined ? {} : { nullText }),
    ...(objects.length > 0 && depth < 4 ? { fields: fieldsOf(objects, [], depth + 1) } : {})
  }
}

/** The statuses with which a field is null; undefined if the status alone does not decide that. */
const nullStatuses = (present: ReadonlyArray<{ readonly isNone: boolean; readonly status: string | undefined }>) => {
  const always = new Set<string>()
  const never = new Set<string>()
  for (const { isNone, status } of present) if (status !== undefined) (isNone ? always : never).add(status)
  if (always.size === 0 || never.size === 0) return undefined
  return Array.from(always).some((status) => never.has(status)) ? undefined : Array.from(always)
}

/** Matches strings that may identify the owner of the account. */
const isPersonal = /@|\d+\.\d+\.\d+\.\d+|:[\da-f]*:/i

const sizes = /memory|ram|disk/
const maxConstantLength = 60

/** Names of fields that the mock fills with its own values. All other fields are constant or empty. */
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

/** The envelope of successes of an operation. */
export const envelopeOf = (evidence: Evidenced, operation: Operation): Envelope | undefined => {
  const found = successes(evidence, operation)
  const [exchange] = found
  if (exchange === undefined) return undefined
  const envelope = json(exchange)
  const key = listIn(exchange) === undefined ? "data" : listKey(exchange)
  if (envelope === undefined || key === undefined || !Object.hasOwn(envelope, key)) return "bare"
  const all = evidence.filter((each) => each.operation !== undefined && isSuccess(each))
  return Object.keys(envelope).map((name) => envelopeKey(name, key, found, isVarying(name, all)))
}

/** Whether the text or number under a key differs in most replies. */
const isVarying = (name: string, successes: Evidenced): boolean => {
  const values = successes.flatMap((exchange) => {
    const value = json(exchange)?.[name]
    return typeof value === "string" || typeof value === "number" ? [value] : []
  })
  return values.length > 2 && new Set(values).size > values.length / 2
}

const envelopeKey = (name: string, dataKey: string, found: Evidenced, varies: boolean): EnvelopeKey => {
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
  return {
    name,
    is: varies ? "varying" : "constant",
    value: isSecretName(name) || value === undefined ? null : (value as string)
  }
}

/** Whether a list of images was requested without a filter. */
export const isUnfiltered = (exchange: Exchange): boolean =>
  exchange.query.every(([name]) => !["cpu", "ram", "series", "os", "version", "image_type"].includes(name)) &&
  asked(exchange).pageNo === undefined

const sameSet = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((name) => other.includes(name))

/** The keys of each record, which should be the keys in the interface (§2.3 to §2.5). */
const keysOf = (operation: Operation, { fields }: { readonly fields: object }) => ({
  see: (evidence: Evidenced) =>
    seenIn(evidence, operation).map(({ exchange, record }) => {
      const [names, expected] = [Object.keys(record), Object.keys(fields)]
      const more = names.filter((name) => !expected.includes(name))
      const less = expected.filter((name) => !names.includes(name))
      const says = [
        ...(more.length ? [`further fields: ${more.join(", ")}`] : []),
        ...(less.length ? [`missing: ${less.join(", ")}`] : [])
      ]
      return observation(exchange, names, says.join("; ") || "the expected fields")
    }),
  holds: (names: ReadonlyArray<string>) => sameSet(names, Object.keys(fields))
})

/** Whether fields have the expected form in all records that have them. `read` names the form. */
const written = (
  operations: ReadonlyArray<Operation>,
  names: ReadonlyArray<string>,
  read: (value: unknown) => string,
  isExpected: (form: string, operation: Operation) => boolean
): Observer<boolean> =>
  function* (evidence) {
    for (const operation of operations) {
      for (const { exchange, record } of seenIn(evidence, operation)) {
        for (const name of names) {
          if (!Object.hasOwn(record, name)) continue
          const form = read(record[name])
          yield observation(exchange, isExpected(form, operation), `${name} of ${operation}: ${form}`)
        }
      }
    }
  }

/** The words for the status of nodes. */
const statusWords = (operations: ReadonlyArray<Operation>, expected: ReadonlyArray<string>) => ({
  see: (evidence: Evidenced) => {
    const seen = operations.flatMap((operation) => seenIn(evidence, operation))
    const words = Array.from(
      new Set(seen.flatMap(({ record }) => ("status" in record ? [String(record["status"])] : [])))
    )
    const odd = seen.find(({ record }) => "status" in record && !expected.includes(String(record["status"])))
    return words.length === 0 ? [] : [observation((odd ?? seen[0]!).exchange, words, `statuses: ${words.join(", ")}`)]
  },
  holds: (words: ReadonlyArray<string>) => words.every((word) => expected.includes(word))
})

/** A size as text `16.00 GB`, or as a whole number: names the form. */
const sizeForm = (value: unknown): string => {
  const size = typeof value === "string" ? sizeOf(value) : undefined
  if (size === undefined) return kindOf(value)
  return `a text with ${size.decimals} decimals and ${size.suffix === "" ? "no unit" : `the unit "${size.suffix}"`}`
}

const addressForm = (value: unknown): string =>
  isObject(value)
    ? `an object of ${Object.keys(value).join(", ")}`
    : value === "" || value === "[]"
      ? `the text "${value}"`
      : kindOf(value)

/** Says only how long a list is, because the words in it belong to the customer. */
const lengthForm = (value: unknown): string => (Array.isArray(value) ? `a list of ${value.length}` : kindOf(value))

const instantForm = (value: unknown): string => {
  const instant = typeof value === "string" ? instantOf(value) : undefined
  return instant === undefined
    ? kindOf(value)
    : `an instant with ${instant.decimals} decimals and ${instant.zone === "" ? "no zone" : instant.zone}`
}

/** An observer of one part of the envelope, in every success with a JSON body. */
const envelopePart =
  <A>(read: (envelope: JsonObject, exchange: Exchange) => readonly [value: A, says: string] | undefined): Observer<A> =>
  (evidence) =>
    evidence.flatMap((exchange) => {
      if (exchange.operation === undefined || !isSuccess(exchange) || exchange.body.is !== "json") return []
      const part = read(json(exchange) ?? {}, exchange)
      return part === undefined ? [] : [observation(exchange, ...part)]
    })

/** An observer of the value of one key, as JSON, in every envelope that has the key. */
const envelopeValue = (name: string) =>
  envelopePart((envelope) => {
    const value = envelope[name] === undefined ? undefined : JSON.stringify(envelope[name])
    return value === undefined ? undefined : [value, `${name}: ${value.slice(0, 60)}`]
  })

const reads: ReadonlyArray<Operation> = ["nodes.list", "nodes.get"]
const texts: ReadonlyArray<Operation> = ["nodes.create", "nodes.list"]
const nodes: ReadonlyArray<Operation> = ["nodes.create", ...reads]

const envelopeKeys = ["message", "code", "data", "errors"]
const words = ["created", "running", "power-off", "terminate"]
const node = { needs: "a create and a delete" } as const

export const records = {
  envelopeKeys: claim("A1", "A success has message, code, data and errors", {
    refutedBy: "A success with other keys around its data",
    see: envelopePart((envelope, { operation }) => {
      // The interface itself documents both forms for saved images (A18).
      if (operation === "images.saved") return undefined
      const names = Object.keys(envelope).filter(
        (name) => operation !== "nodes.list" || !/total|page|count|size|limit/.test(name)
      )
      return [names, `the envelope has ${names.join(", ") || "nothing"}`]
    }),
    holds: (names: ReadonlyArray<string>) => sameSet(names, envelopeKeys)
  }),
  message: claim("A1", "message is Success", {
    refutedBy: "A success with another message",
    see: envelopeValue("message"),
    holds: is('"Success"')
  }),
  code: claim("A1", "code is the number 200, whatever the status", {
    refutedBy: "A success whose code is a text or another number, such as its status",
    see: envelopeValue("code"),
    holds: is("200")
  }),
  errors: claim("A1", "errors is an empty object", {
    refutedBy: "A success whose errors are null, a list, or not empty",
    see: envelopeValue("errors"),
    holds: is("{}")
  }),
  listKeys: claim("A8", "A listed node has the fields of the example", {
    refutedBy: "A listed node with more or fewer fields",
    ...keysOf("nodes.list", ListedNode)
  }),
  getKeys: claim("A8", "A node by id has the fields of the table", {
    refutedBy: "A node by id with more or fewer fields",
    ...keysOf("nodes.get", NodeAttributes)
  }),
  createKeys: claim("A8", "A created node has the fields of the list and is_locked", {
    ...node,
    refutedBy: "A reply to a create with more or fewer fields",
    ...keysOf("nodes.create", CreatedNode)
  }),
  vcpus: claim("A8", "vcpus is a text in lists, a whole number by id", {
    refutedBy: "vcpus of another type",
    see: written(nodes, ["vcpus"], kindOf, (form, operation) =>
      operation === "nodes.get" ? form === "integer" : form === "string"
    )
  }),
  memory: claim("A8", "memory is a text such as 16.00 GB", {
    refutedBy: "memory of another type, unit or precision",
    see: written(texts, ["memory"], sizeForm, is('a text with 2 decimals and the unit " GB"'))
  }),
  disk: claim("A8", "disk is a text such as 100 GB in lists, a whole number by id", {
    refutedBy: "disk of another type, unit or precision",
    see: written(nodes, ["disk"], sizeForm, (form, operation) =>
      operation === "nodes.get" ? form === "integer" : form === 'a text with 0 decimals and the unit " GB"'
    )
  }),
  addresses: claim("A8", "Addresses are texts in lists, objects by id", {
    refutedBy: "An address that is null, empty or of another form",
    see: written(nodes, ["public_ip_address", "private_ip_address"], addressForm, (form, operation) =>
      operation === "nodes.get" ? form === "an object of ip_address, netmask, gateway, type" : form === "string"
    )
  }),
  id: claim("A8", "The id of a node is a whole number", {
    refutedBy: "An id of another type",
    see: written(nodes, ["id"], kindOf, is("integer"))
  }),
  nulls: claim("A8", "No field of a node is null", {
    refutedBy: "A node with a null field",
    see: (evidence) =>
      nodes.flatMap((operation) =>
        seenIn(evidence, operation).map(({ exchange, record }) => {
          const names = Object.keys(record).filter((name) => record[name] === null)
          const says = names.length === 0 ? "no field is null" : `null in ${operation}: ${names.join(", ")}`
          return observation(exchange, names.length === 0, says)
        })
      )
  }),
  missing: claim("A8", "Every record of a list has the same fields", {
    refutedBy: "A field that only some records have",
    see: (evidence) =>
      reads.flatMap((operation) => {
        const seen = seenIn(evidence, operation)
        if (seen.length < 2) return []
        const fields = recordShape(evidence, operation) ?? []
        const some = fields.filter(({ missing }) => missing > 0).map(({ name }) => name)
        const lacking = seen.find(({ record }) => some.some((name) => !Object.hasOwn(record, name))) ?? seen[0]!
        return some.length === 0
          ? [observation(lacking.exchange, true, "every record has the same fields")]
          : [observation(lacking.exchange, false, `missing in some of ${operation}: ${some.join(", ")}`)]
      })
  }),
  tags: claim("A9", "tags is an empty list", {
    refutedBy: "A node with tags",
    see: written(["nodes.get"], ["tags"], lengthForm, is("a list of 0"))
  }),
  locked: claim("A9", "No node is locked", {
    refutedBy: "A locked node",
    see: written(nodes, ["locked", "is_locked"], (value) => JSON.stringify(value), is("false"))
  }),
  statuses: claim("A10", "status is created, running, power-off or terminate", {
    refutedBy: "A status with another word or in another case",
    ...statusWords(reads, words)
  }),
  createStatus: claim("A10", "A create shows the status Create", {
    ...node,
    refutedBy: "A reply to a create with another status",
    ...statusWords(["nodes.create"], ["Create"])
  }),
  createdAt: claim("A13", "created_at has microseconds and Z", {
    refutedBy: "created_at with another precision or zone",
    see: written(nodes, ["created_at"], instantForm, is("an instant with 6 decimals and Z"))
  })
}
