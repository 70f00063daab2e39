/**
 * An image: the columns of `berth image list` and `berth image saved`.
 */
import { Image } from "@berth/core/domain/Image"
import { memory, numberOr, rupees, textOr } from "../output/format.ts"
import { type Field, jsonOf, type RecordDescriptor } from "../output/RecordDescriptor.ts"

const fields: ReadonlyArray<Field<Image>> = [
  { key: "image", title: "IMAGE", value: ({ image }) => image },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12, dropOrder: 2 },
  { key: "os", title: "OS", value: ({ os }) => [os.name, os.version ?? ""].join(" ").trim(), dropOrder: 4 },
  { key: "plan", title: "PLAN", value: ({ plan }) => textOr(plan), dropOrder: 7 },
  { key: "specs.vcpus", title: "VCPU", value: ({ specs }) => numberOr(specs.vcpus), align: "right", dropOrder: 3 },
  {
    key: "specs.memoryMib",
    title: "MEMORY",
    alias: "memory",
    value: ({ specs }) => memory(specs.memoryMib),
    align: "right",
    dropOrder: 5
  },
  { key: "zone", title: "ZONE", value: ({ zone }) => textOr(zone), dropOrder: 1 },
  {
    key: "specs.pricePerHourInr",
    title: "₹/HOUR",
    alias: "price",
    value: ({ specs }) => rupees(specs.pricePerHourInr),
    align: "right",
    dropOrder: 6
  }
]

export const imageRecord: RecordDescriptor<Image> = {
  ...jsonOf(Image),
  fields: () => fields,
  none: "no such images",
  idKey: "image"
}
