/**
 * Lies: replies that are well-formed and not true. Unless it says otherwise a lie changes what is told, not what is.
 */
import { Schema } from "effect"
import { count, duration, kind, text } from "./FaultKind.ts"

/** What can only befall a create; it is those that a trigger counts. */
const creates = ["nodes.create"] as const

const field = text("Which field of the record; default a choice of the seed.")

export const lies = [
  kind(
    "lies",
    "create-lost-reply",
    "Makes the node, then resets the connection: the reply of the create is lost.",
    {},
    creates
  ),
  kind(
    "lies",
    "create-false-negative",
    "Makes the node and says that it failed.",
    {
      status: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))).annotate({
        description: "What it says, 400 to 599; default 500."
      })
    },
    creates
  ),
  kind("lies", "duplicate-create", "Makes two nodes and tells of the first. Both are there for good.", {}, creates),
  kind("lies", "id-reuse", "A new node gets the id of the node that went last. It keeps it.", {}, creates),
  kind("lies", "stuck-provisioning", "A new node never gets past created, also after the fault is gone.", {}, creates),
  kind(
    "lies",
    "list-stale",
    "The list of nodes is as it was a while ago.",
    {
      age: duration("How old, in time of the world; default 10 seconds.")
    },
    ["nodes.list"]
  ),
  kind(
    "lies",
    "list-shifts",
    "From one page to the next all nodes move on in the list, the first ones to its end.",
    {
      by: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: -1000, maximum: 1000 }))).annotate({
        description: "Places towards the front each time, negative for towards the end; default 1."
      })
    },
    ["nodes.list"]
  ),
  kind("lies", "listed-but-404", "Says of a node that is in the list that there is none.", {}, ["nodes.get"]),
  kind(
    "lies",
    "get-lags",
    "A single node is as it was a while ago; before it was made there is none.",
    {
      age: duration("How far behind, in time of the world; default 10 seconds.")
    },
    ["nodes.get"]
  ),
  kind("lies", "empty-list", "A list says that there is nothing.", {}, ["nodes.list", "images.list", "images.saved"]),
  kind(
    "lies",
    "status-unknown",
    "The nodes have a status that nobody knows.",
    {
      value: text("The status; default a choice of the seed.")
    },
    ["nodes.create", "nodes.get", "nodes.list"]
  ),
  kind("lies", "field-missing", "A field is missing from the records.", { field }),
  kind("lies", "field-extra", "The records have a field nobody knows.", {
    field: text("Its name; default a choice of the seed.")
  }),
  kind("lies", "field-type-changed", "A field of the records is of another type: a number a text, a text a list.", {
    field
  }),
  kind("lies", "window-changes", "The allowance shrinks in the middle of its window.", {
    limit: count(0, "What is granted instead; default half of it.")
  })
] as const
