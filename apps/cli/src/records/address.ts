/**
 * The addresses of a node, as `berth node ip` prints them.
 */
import { Node } from "@berthkit/core/domain/Node"
import { Schema, Struct } from "effect"
import { textOr } from "../output/format.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"

const Address = Schema.Struct(Struct.pick(Node.fields, ["id", "name", "publicIp", "privateIp"]))
interface Address extends Schema.Schema.Type<typeof Address> {}

const fields: ReadonlyArray<Field<Address>> = [
  { key: "id", title: "ID", value: ({ id }) => String(id), align: "right" },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
  { key: "publicIp", title: "PUBLIC IP", value: ({ publicIp }) => textOr(publicIp) },
  { key: "privateIp", title: "PRIVATE IP", value: ({ privateIp }) => textOr(privateIp) }
]

export const addressRecord: RecordDescriptor<Address> = {
  ...jsonOf(Address),
  fields: () => fields,
  none: "no addresses"
}
