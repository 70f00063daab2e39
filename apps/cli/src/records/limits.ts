/** How much of the rate limit is left. */
import { KnownAllowance } from "@berthkit/core/domain/Allowance"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { Schema } from "effect"
import { elapsed, nothing, textOr } from "../output/format.ts"
import { number, recordOf } from "../output/RecordDescriptor.ts"

/** Another process on this machine that uses the same key. */
export const Client = Schema.Struct({
  processId: Schema.Int,
  program: Schema.NullOr(Schema.String).annotate({ description: "Null if the system does not show it." })
})
export interface Client extends Schema.Schema.Type<typeof Client> {}

const Limits = Schema.Struct({
  ...KnownAllowance.fields,
  resetAt: Schema.NullOr(Schema.String).annotate({ description: "When it refills; null if no reply reports it." }),
  file: Schema.NullOr(Schema.String).annotate({
    description:
      "The file on this machine, or the database, through which clients share the allowance; null if there is none."
  }),
  otherProcesses: Schema.Int.annotate({ description: "How many other clients share the allowance now." }),
  clients: Schema.Array(Client).annotate({ description: "These clients, if they are on this machine." })
})
export interface Limits extends Schema.Schema.Type<typeof Limits> {}

/** The kinds of requests that are paused. */
const paused = ({ keptForReads, pausedMillis, remaining }: Limits): string => {
  if (pausedMillis > 0) return `for ${elapsed(pausedMillis)}`
  if (remaining === null || keptForReads === null || remaining === 0 || remaining > keptForReads) return "no"
  return `changes: the last ${keptForReads === 1 ? "request is" : `${keptForReads} are`} kept for reads`
}

const named = ({ processId, program }: Client): string => `${program ?? "process"} (${processId})`

export const limitsRecord = recordOf(Limits, { none: "no limits" }, [
  number("remaining", "LEFT"),
  number("limit", "OF"),
  {
    key: "resetAt",
    title: "REFILLS",
    value: ({ resetAt, resetInMillis }) =>
      resetAt === null || resetInMillis === null ? nothing : `in ${elapsed(resetInMillis)} (${resetAt})`
  },
  {
    key: "pausedMillis",
    title: "PAUSED",
    value: paused,
    style: (limits) => (paused(limits) === "no" ? undefined : "bad")
  },
  {
    key: "otherProcesses",
    title: "OTHER CLIENTS",
    value: ({ clients, file, otherProcesses }) =>
      clients.length > 0
        ? clients.map(named).join(", ")
        : otherProcesses > 0
          ? String(otherProcesses)
          : file !== null && isPostgres(file)
            ? "none"
            : "none on this machine",
    shrinkTo: 20
  },
  { key: "file", title: "SHARED THROUGH", value: ({ file }) => textOr(file), shrinkTo: 20 }
])
