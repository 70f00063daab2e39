/**
 * One result of `berth doctor`.
 */
import { Schema } from "effect"
import type { Style } from "../output/cells.ts"
import { recordOf } from "../output/RecordDescriptor.ts"

const results = ["ok", "warning", "failed"] as const

const Check = Schema.Struct({
  check: Schema.String,
  result: Schema.Literals(results),
  detail: Schema.String
})
export interface Check extends Schema.Schema.Type<typeof Check> {}

const styles: Record<(typeof results)[number], Style> = { ok: "good", warning: "waiting", failed: "bad" }

export const checkRecord = recordOf(Check, { none: "no checks", idKey: "check", nameKey: "check" }, [
  { key: "check", title: "CHECK", value: ({ check }) => check },
  { key: "result", title: "RESULT", value: ({ result }) => result, style: ({ result }) => styles[result] },
  { key: "detail", title: "DETAIL", value: ({ detail }) => detail, shrinkTo: 20 }
])
