/**
 * Events as CSV for spreadsheets, an event on each line (RFC 4180; lines end with a line feed). Names come from others: none of them
 * begins a line or a formula.
 */
import { escapeControls } from "@berth/terminal/escapeControls"
import type { DeliveredEvent } from "../http/records.ts"

/** What a spreadsheet takes for the beginning of a formula, in full width too. */
const formula = /^\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  const text = typeof value === "string" ? (formula.test(value) ? `'${value}` : value) : JSON.stringify(value)
  const safe = escapeControls(text)
  return /[",]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const nameOf = (record: unknown): unknown =>
  typeof record === "object" && record !== null && "name" in record ? record.name : undefined

const columns: Readonly<Record<string, (event: DeliveredEvent) => unknown>> = {
  time: ({ time }) => time,
  account: ({ source }) => source.replace(/^\/accounts\//, ""),
  sequence: ({ sequence }) => Number(sequence),
  type: ({ type }) => type,
  subject: ({ subject }) => subject,
  name: ({ data }) => nameOf(data["after"]) ?? nameOf(data["before"]),
  from: ({ data }) => data["from"],
  to: ({ data }) => data["to"],
  id: ({ id }) => id,
  data: ({ data }) => data
}

export const csvHeader = `${Object.keys(columns).join(",")}\n`

export const csvLine = (event: DeliveredEvent): string =>
  `${Object.values(columns)
    .map((valueOf) => cellOf(valueOf(event)))
    .join(",")}\n`
