/**
 * What a change is about to do: the very request, the money, and what comes after. `--dry-run` prints it.
 */
import { Schema } from "effect"
import { type Column, textOr } from "./Column.ts"
import { jsonLine } from "./json.ts"
import type { View } from "./print.ts"
import { rupees } from "./units.ts"

export const Preview = Schema.Struct({
  action: Schema.Literals(["create", "delete", "set-commitment"]),
  id: Schema.NullOr(Schema.Int),
  name: Schema.String,
  request: Schema.Struct({
    method: Schema.String,
    path: Schema.String.annotate({ description: "Below the base URL, without credentials." }),
    body: Schema.Unknown.annotate({ description: "JSON; null where there is none." })
  }),
  pricePerHourInr: Schema.NullOr(Schema.Number),
  pricePerMonthInr: Schema.NullOr(Schema.Number),
  committedPriceInr: Schema.NullOr(Schema.Number).annotate({ description: "For the whole committed period." }),
  outcome: Schema.String.annotate({ description: "What comes of it." })
}).annotate({ identifier: "Preview" })
export interface Preview extends Schema.Schema.Type<typeof Preview> {}

const priced: ReadonlyArray<Column<Preview>> = [
  { title: "₹/HOUR", value: ({ pricePerHourInr }) => rupees(pricePerHourInr) },
  { title: "₹/MONTH", value: ({ pricePerMonthInr }) => rupees(pricePerMonthInr) },
  { title: "₹ COMMITTED", value: ({ committedPriceInr }) => rupees(committedPriceInr) }
]

const columns = (previews: ReadonlyArray<Preview>): ReadonlyArray<Column<Preview>> => [
  { title: "ACTION", value: ({ action }) => action },
  { title: "ID", value: ({ id }) => textOr(id === null ? null : String(id)) },
  { title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  ...(previews.some(({ action }) => action === "create") ? priced : []),
  { title: "OUTCOME", value: ({ outcome }) => outcome, shrinkTo: 20 },
  { title: "REQUEST", value: ({ request }) => `${request.method} ${request.path}`, leaves: 1 },
  ...(previews.some(({ request }) => request.body !== null)
    ? [{ title: "BODY", value: ({ request }: Preview) => jsonLine(request.body), leaves: 1 }]
    : [])
]

export const previewView: View<Preview> = { encode: (preview) => preview, columns, none: "no changes to make" }
