/**
 * Events as CSV for spreadsheets, an event on each line. Names come from others: none of them begins a line or a formula.
 */
import * as Csv from "@berthkit/terminal/csv"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import type { DeliveredEvent } from "../http/records.ts"

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  return escapeControls(typeof value === "string" ? Csv.inert(value) : JSON.stringify(value))
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

export const csvHeader = Csv.csvLine(Object.keys(columns))

export const csvLine = (event: DeliveredEvent): string =>
  Csv.csvLine(Object.values(columns).map((valueOf) => cellOf(valueOf(event))))
