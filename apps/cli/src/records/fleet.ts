/**
 * A fleet that berth knows, from its ledger.
 */
import { Schema } from "effect"
import { number, recordOf } from "../output/RecordDescriptor.ts"

const Fleet = Schema.Struct({
  name: Schema.String,
  members: Schema.Int.annotate({ description: "How many members have a node, by the ledger." }),
  pending: Schema.Int.annotate({
    description: "How many creates have no known outcome; berth apply finishes them."
  }),
  ledger: Schema.String.annotate({ description: "Path of the ledger." }),
  state: Schema.Literals([
    "ok",
    "doubled",
    "undecided",
    "missing",
    "damaged",
    "later",
    "unreadable",
    "another account"
  ]).annotate({
    description:
      "Whether the ledger can be used; `doubled`: a member has more than one node; `undecided`: it is not known whether a create has made a node; `later`: a later version of berth wrote it."
  })
})
export interface Fleet extends Schema.Schema.Type<typeof Fleet> {}

export const fleetRecord = recordOf(Fleet, { none: "no fleets that berth knows", idKey: "name" }, [
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  number("members", "MEMBERS"),
  {
    key: "pending",
    title: "PENDING",
    value: ({ pending }) => (pending === 0 ? "" : String(pending)),
    align: "right",
    style: () => "waiting"
  },
  {
    key: "state",
    title: "STATE",
    value: ({ state }) => state,
    style: ({ state }) => (state === "ok" ? undefined : "bad")
  },
  { key: "ledger", title: "LEDGER", value: ({ ledger }) => ledger, shrinkTo: 20 }
])

const FleetMember = Schema.Struct({
  fleet: Schema.String,
  member: Schema.String,
  id: Schema.NullOr(Schema.Int).annotate({ description: "Id of the node; null if the fleet alone was forgotten." }),
  name: Schema.String.annotate({ description: "Name of the node, or of the fleet." }),
  outcome: Schema.Literals(["adopted", "forgotten"]),
  differences: Schema.Array(Schema.String).annotate({ description: "How the node differs from the fleet file." })
})
export interface FleetMember extends Schema.Schema.Type<typeof FleetMember> {}

export const fleetMemberRecord = recordOf(FleetMember, { none: "no such members" }, [
  { key: "fleet", title: "FLEET", value: ({ fleet }) => fleet },
  { key: "member", title: "MEMBER", value: ({ member }) => member },
  { key: "id", title: "ID", value: ({ id }) => (id === null ? "" : String(id)), align: "right" },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  { key: "outcome", title: "RESULT", value: ({ outcome }) => outcome },
  { key: "differences", title: "DIFFERS", value: ({ differences }) => differences.join("; "), shrinkTo: 20 }
])
