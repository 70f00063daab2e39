/**
 * Lies in the records of a reply: a status, fields. They change what is told and nothing else. Each gives the envelope that
 * is told instead, `undefined` where there is nothing to lie about.
 */
import type { Strike } from "../ArmedFaults.ts"
import { type JsonObject, mapRecords, recordsOf } from "../../injection/replyBody.ts"

const choose = <A>(from: ReadonlyArray<A>, chance: number): A => from[chance % from.length]!

/** Labels of what is chosen. */
const label = { status: 1, field: 2 } as const

const unknownStatuses = ["Hibernating", "migrating", "ERROR", "resize pending"]
const extraFields = ["project_id", "location", "gpu", "label", "monitoring_enabled"]

/** What another type makes of a value. */
const otherType = (value: unknown): unknown => {
  switch (typeof value) {
    case "number":
    case "boolean":
      return String(value)
    case "string":
      return [value]
    default:
      return Array.isArray(value) ? {} : value === null ? 0 : JSON.stringify(value)
  }
}

export const lieInRecords = ({ chance, fault }: Strike, envelope: JsonObject): JsonObject | undefined => {
  const records = recordsOf(envelope)
  const [first] = records
  if (first === undefined) return undefined
  switch (fault.fault) {
    case "empty-list":
      return Array.isArray(envelope["data"]) ? { ...envelope, data: [] } : undefined
    case "status-unknown": {
      if (!("status" in first)) return undefined
      const status = fault.value ?? choose(unknownStatuses, chance(label.status))
      return mapRecords(envelope, (record) => ({ ...record, status }))
    }
    case "field-extra": {
      const field = fault.field ?? choose(extraFields, chance(label.field))
      return mapRecords(envelope, (record) => ({ ...record, [field]: { since: 2027, values: ["a", 1, null] } }))
    }
    case "field-missing":
    case "field-type-changed": {
      const field = fault.field ?? choose(Object.keys(first), chance(label.field))
      if (!(field in first)) return undefined
      return mapRecords(envelope, (record) => {
        const { [field]: value, ...rest } = record
        if (fault.fault === "field-missing") return rest
        return field in record ? { ...record, [field]: otherType(value) } : record
      })
    }
    default:
      return undefined
  }
}
