/** Semantic faults in the records of a reply, and in the reported allowance. They change the reply, not the world. */
import { count } from "../faults/Fault.ts"
import type { Allowance } from "../world/allowance.ts"
import { faultKind, type Firing, text } from "./FaultKind.ts"
import type { JsonObject } from "./replyBody.ts"

const choose = <A>(from: ReadonlyArray<A>, chance: number): A => from[chance % from.length]!

/** Labels for the seeded random choices. */
const label = { status: 1, field: 2 } as const

const field = text("Which field of the record; default picked by the seed.")

const fieldOf = (fault: { readonly field?: string }, first: JsonObject, chance: Firing["chance"]): string =>
  fault.field ?? choose(Object.keys(first), chance(label.field))

const unknownStatuses = ["Hibernating", "migrating", "ERROR", "resize pending"]

const extraFields = ["project_id", "location", "gpu", "label", "monitoring_enabled"]
const extraValue = { since: 2027, values: ["a", 1, null] }

/** The value as another type. An absent value stays absent. */
const otherType = (value: unknown): unknown => {
  if (value === undefined) return undefined
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value === "string") return [value]
  return Array.isArray(value) ? {} : value === null ? 0 : JSON.stringify(value)
}

/** The same allowance with a limit of only `limit` requests. Requests that were already spent still count. */
const shrunk = (allowance: Allowance, limit: number): Allowance => {
  const read = (reading: ReturnType<Allowance["peek"]>, granted: boolean) => {
    const remaining = Math.max(0, limit - (reading.limit - reading.remaining))
    return { ...reading, granted, limit, remaining, retryAt: remaining > 0 ? reading.retryAt : reading.resetAt }
  }
  const peek = (now: number) => {
    const reading = allowance.peek(now)
    return read(reading, reading.limit - reading.remaining < limit)
  }
  return {
    ...allowance,
    peek,
    spend: (now) => {
      const before = peek(now)
      if (!before.granted) return before
      const spent = allowance.spend(now)
      return read(spent, spent.granted)
    }
  }
}

export const recordFaults = [
  faultKind({
    name: "empty-list",
    summary: "A list is empty, whatever exists.",
    only: ["nodes.list", "images.list", "images.saved"],
    steps: () => ({ records: () => "empty" })
  }),
  faultKind({
    name: "status-unknown",
    summary: "The nodes have an undocumented status.",
    options: { value: text("The status; default picked by the seed.") },
    only: ["nodes.create", "nodes.get", "nodes.list"],
    steps: ({ chance, fault: { value } }) => ({
      records: () => ({ field: "status", to: () => value ?? choose(unknownStatuses, chance(label.status)) })
    })
  }),
  faultKind({
    name: "field-missing",
    summary: "A field is missing from the records.",
    options: { field },
    steps: ({ chance, fault }) => ({
      records: (first) => ({ field: fieldOf(fault, first, chance), to: () => undefined })
    })
  }),
  faultKind({
    name: "field-extra",
    summary: "The records have an undocumented field.",
    options: { field: text("Its name; default picked by the seed.") },
    steps: ({ chance, fault }) => ({
      records: () => ({ field: fault.field ?? choose(extraFields, chance(label.field)), to: () => extraValue })
    })
  }),
  faultKind({
    name: "field-type-changed",
    summary: "A field of the records has another type: text instead of a number, a list instead of text.",
    options: { field },
    steps: ({ chance, fault }) => ({
      records: (first) => ({ field: fieldOf(fault, first, chance), to: otherType })
    })
  }),
  faultKind({
    name: "window-changes",
    summary: "The allowance shrinks in the middle of its window.",
    options: { limit: count(0, "The new limit; default half of the old one.") },
    steps: ({ fault }, { world: { allowance } }) => ({
      allowance: () => {
        const { rateLimit } = allowance
        const limit = fault.limit ?? Math.floor(rateLimit.limit / 2)
        return limit === rateLimit.limit ? undefined : shrunk(allowance, limit)
      }
    })
  })
] as const
