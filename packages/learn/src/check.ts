/**
 * Finds what has changed between a profile and new evidence. Compares only parts that both show, and ignores numbers
 * that differ between any two recordings, such as counts of nodes.
 */
import type { Behaviour, Envelope, Field, Finding, Profile, Ranges } from "@berthkit/profile/Profile"
import { isObject } from "@berthkit/profile/values"
import { quantile } from "./advice.ts"

interface Difference {
  /** The path of the value that differs, such as `paging.defaultSize`. */
  readonly what: string
  readonly before: string
  readonly now: string
}

export interface Compared {
  readonly differences: ReadonlyArray<Difference>
  /** How many values were compared. */
  readonly count: number
}

const maxLength = 200

const text = (value: unknown): string => {
  const written = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing")
  return written.length > maxLength ? `${written.slice(0, maxLength)}…` : written
}

/** Two durations or lengths count as equal if they differ by at most this share. */
const tolerance = 0.25
/** Durations are compared only if both recordings have at least this many of them. */
const minSamples = 5
const minMillis = 1_000
const minSkewMillis = 5_000

const differsMuch = (before: number, now: number, least: number): boolean =>
  Math.abs(before - now) > Math.max(least, tolerance * Math.max(before, now))

const rangeAt = (ranges: Ranges, share: number) => {
  const at = (bounds: ReadonlyArray<number>) =>
    Math.round(
      quantile(
        bounds.toSorted((a, b) => a - b),
        share
      )
    )
  return { min: at(ranges.map(({ min }) => min)), max: at(ranges.map(({ max }) => max)) }
}

const inWords = ({ max, min }: Ranges[number]): string => (min === max ? `${max} ms` : `${min} to ${max} ms`)

/** Removes the parts of a failure that differ in each reply: numbers, and words with digits, such as the id of a request. */
const withoutNumbers = (value: unknown): string =>
  (JSON.stringify(value) ?? "").replace(/(?=[\w-]*\d)[\w-]{8,}/g, "0").replace(/\d+/g, "0")

/** An envelope without the keys that differ in each reply. */
const lastingEnvelope = (envelope: Envelope): Envelope =>
  envelope === "bare" ? envelope : envelope.map((key) => (key.is === "varying" ? { ...key, value: null } : key))

class Comparison {
  readonly differences: Array<Difference> = []
  count = 0

  same(what: string, before: unknown, now: unknown, isSame = JSON.stringify(before) === JSON.stringify(now)): void {
    if (before === undefined || now === undefined) return
    this.count += 1
    if (!isSame) this.differences.push({ what, before: text(before), now: text(now) })
  }

  each(what: string, before: object, now: object): void {
    for (const [name, value] of Object.entries(now))
      this.same(`${what}.${name}`, (before as Record<string, unknown>)[name], value)
  }

  /**
   * Compares durations, which are known only as ranges. They differ only if the ranges of one recording end well before the ranges of the
   * other begin.
   */
  ranges(what: string, before: Ranges | undefined, now: Ranges | undefined): void {
    if (before === undefined || now === undefined || before.length < minSamples || now.length < minSamples) return
    for (const [name, share] of [
      ["p50", 0.5],
      ["p95", 0.95]
    ] as const) {
      const [was, is] = [rangeAt(before, share), rangeAt(now, share)]
      const isApart = differsMuch(was.max, is.min, minMillis) && is.min > was.max
      const wasApart = differsMuch(was.min, is.max, minMillis) && is.max < was.min
      this.same(`${what}.${name}`, inWords(was), inWords(is), !isApart && !wasApart)
    }
  }

  fields(what: string, before: ReadonlyArray<Field> | undefined, now: ReadonlyArray<Field> | undefined): void {
    if (before === undefined || now === undefined) return
    const was = new Map(before.map((field) => [field.name, field]))
    const is = new Map(now.map((field) => [field.name, field]))
    for (const [name, field] of is) {
      const old = was.get(name)
      if (old === undefined) this.same(`${what}.${name}`, "no such field", field.kinds.join(" or "), false)
      else this.field(`${what}.${name}`, old, field)
    }
    for (const [name, field] of was) {
      if (!is.has(name) && field.missing === 0)
        this.same(`${what}.${name}`, field.kinds.join(" or "), "no such field", false)
    }
  }

  field(what: string, before: Field, now: Field): void {
    const known = before.kinds[0] !== "null" && now.kinds[0] !== "null"
    const further = now.kinds.filter((kind) => !before.kinds.includes(kind))
    this.same(what, before.kinds.join(" or "), now.kinds.join(" or "), !known || further.length === 0)
    this.same(`${what} null`, "never", "in some records", !(before.null === 0 && now.null > 0))
    this.same(`${what} missing`, "never", "in some records", !(before.missing === 0 && now.missing > 0))
    if (before.null > 0 && now.null > 0)
      this.same(`${what} without a value`, before.nullText ?? null, now.nullText ?? null)
    if (further.length === 0) this.same(`${what} form`, before.form, now.form)
    this.fields(what, before.fields, now.fields)
  }
}

/** Removes the fields of a row that change from day to day. */
const lasting = (name: string, value: unknown): unknown =>
  name === "committed_upto_date" || name === "committed_node_message" ? undefined : value

const keyOf = (row: unknown): string => {
  const { image, plan, size } = isObject(row) ? row : {}
  return `${String(plan ?? size)} with ${String(image)}`
}

const compareCatalogue = (
  comparison: Comparison,
  before: Behaviour["catalogue"],
  now: Behaviour["catalogue"]
): void => {
  if (before === undefined || now === undefined) return
  const rowsOf = (rows: ReadonlyArray<unknown>) =>
    new Map(rows.map((row) => [keyOf(row), JSON.stringify(row, lasting)]))
  const [was, is] = [rowsOf(before), rowsOf(now)]
  const names = (list: ReadonlyArray<string>) =>
    `${list.length}: ${list.slice(0, 3).join(", ")}${list.length > 3 ? ", …" : ""}`
  const added = Array.from(is.keys()).filter((key) => !was.has(key))
  const gone = Array.from(was.keys()).filter((key) => !is.has(key))
  const changed = Array.from(is.keys()).filter((key) => was.has(key) && was.get(key) !== is.get(key))
  comparison.same("catalogue rows added", "none", names(added), added.length === 0)
  comparison.same("catalogue rows gone", "none", names(gone), gone.length === 0)
  for (const key of changed.slice(0, 3)) comparison.same(`catalogue ${key}`, was.get(key), is.get(key), false)
  if (changed.length > 3) comparison.same("catalogue rows changed", "none", names(changed), false)
}

/**
 * A new status counts as a difference only if Berth does not know it. Known statuses appear and disappear as nodes come and
 * go.
 */
const compareOtherStatuses = (comparison: Comparison, was: Behaviour, is: Behaviour): void => {
  if (was.records["nodes.list"] === undefined && was.records["nodes.get"] === undefined) return
  const before = [...(was.otherStatuses ?? []), ...Object.values(was.statuses)]
  const added = (is.otherStatuses ?? []).filter((word) => !before.includes(word))
  comparison.same("statuses added", "none", added.join(", "), added.length === 0)
}

/** The HTTP status at the end of a sentence about a refusal. */
const statusIn = (observed: string): string | undefined => /\bis (?:refused with )?(\d{3})$/.exec(observed)?.[1]

/** Whether the replies behind a profile could have shown this finding, although the profile does not contain it. */
const couldShow = ({ behaviour }: Profile, { of }: Finding): boolean =>
  of === undefined || behaviour.envelopes[of] !== undefined

const compareFindings = (comparison: Comparison, before: Profile, now: Profile): void => {
  const was = new Map(before.findings.map((finding) => [`${finding.assumption}: ${finding.claim}`, finding]))
  for (const finding of now.findings) {
    const { assumption, claim, observed, verdict } = finding
    const old = was.get(`${assumption}: ${claim}`)
    if (old === undefined || old.verdict === "open" || verdict === "open") continue
    if (!couldShow(before, finding) || !couldShow(now, old)) continue
    const isSame = old.verdict === verdict && statusIn(old.observed) === statusIn(observed)
    comparison.same(`${assumption}: ${claim}`, `${old.verdict}, ${old.observed}`, `${verdict}, ${observed}`, isSame)
  }
}

export const compare = (before: Profile, now: Profile): Compared => {
  const comparison = new Comparison()
  const [was, is] = [before.behaviour, now.behaviour]
  comparison.same("contentType", was.contentType, is.contentType)
  for (const [name, envelope] of Object.entries(is.envelopes)) {
    const old = was.envelopes[name as keyof typeof was.envelopes]
    if (old !== undefined && envelope !== undefined)
      comparison.same(`envelopes.${name}`, lastingEnvelope(old), lastingEnvelope(envelope))
  }
  for (const [name, fields] of Object.entries(is.records)) {
    comparison.fields(`records.${name}`, was.records[name as keyof typeof was.records], fields)
  }
  for (const [name, failure] of Object.entries(is.failures)) {
    const old = was.failures[name as keyof typeof was.failures]
    if (old === undefined || failure === undefined) continue
    comparison.same(
      `failures.${name}`,
      old,
      failure,
      withoutNumbers({ ...old, status: "" }) === withoutNumbers({ ...failure, status: "" }) &&
        old.status === failure.status
    )
  }
  comparison.each("statuses", was.statuses, is.statuses)
  compareOtherStatuses(comparison, was, is)
  const { tooLarge, ...paging } = is.paging
  comparison.each("paging", was.paging, paging)
  const isAccepted = (beyond: Behaviour["paging"]["tooLarge"]) => beyond !== "refused"
  const isAny = was.paging.tooLarge === "accepted" || tooLarge === "accepted"
  comparison.same(
    "paging.tooLarge",
    was.paging.tooLarge,
    tooLarge,
    isAny ? isAccepted(was.paging.tooLarge) === isAccepted(tooLarge) : was.paging.tooLarge === tooLarge
  )
  comparison.same("deletes", was.deletes, is.deletes)
  comparison.ranges("provisioningMillis", was.provisioningMillis, is.provisioningMillis)
  comparison.ranges("terminationMillis", was.terminationMillis, is.terminationMillis)
  const { windowMillis: length, ...window } = is.window
  comparison.each("window", was.window, window)
  const oldLength = was.window.windowMillis
  comparison.same(
    "window.windowMillis",
    oldLength,
    length,
    oldLength === undefined || length === undefined || !differsMuch(oldLength, length, minMillis)
  )
  const [oldSkew = 0, skew = 0] = [was.clockSkewMillis, is.clockSkewMillis]
  comparison.same("clockSkewMillis", was.clockSkewMillis, is.clockSkewMillis, Math.abs(oldSkew - skew) <= minSkewMillis)
  comparison.same("location", was.location, is.location)
  comparison.each("images", was.images, is.images)
  compareCatalogue(comparison, was.catalogue, is.catalogue)
  compareFindings(comparison, before, now)
  return { differences: comparison.differences, count: comparison.count }
}
