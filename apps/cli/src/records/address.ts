/**
 * The addresses of a node, for `berth node ip`.
 */
import { Node } from "@berthkit/core/domain/Node"
import { Schema, Struct } from "effect"
import { textOr } from "../output/format.ts"
import { number, recordOf } from "../output/RecordDescriptor.ts"

const Address = Schema.Struct(Struct.pick(Node.fields, ["id", "name", "publicIp", "privateIp"]))

export const addressRecord = recordOf(Address, { none: "no addresses" }, [
  number("id", "ID"),
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  { key: "publicIp", title: "PUBLIC IP", value: ({ publicIp }) => textOr(publicIp) },
  { key: "privateIp", title: "PRIVATE IP", value: ({ privateIp }) => textOr(privateIp) }
])
