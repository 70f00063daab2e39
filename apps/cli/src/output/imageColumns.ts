/**
 * The columns of `berth image list` and `berth image saved`.
 */
import type { Image } from "@berth/core/domain/Image"
import { type Column, numberOr, textOr } from "./Column.ts"
import { memory, rupees } from "./units.ts"

export const imageColumns: ReadonlyArray<Column<Image>> = [
  { title: "IMAGE", value: (image) => image.image },
  { title: "NAME", value: (image) => image.name, shrinkTo: 12, leaves: 2 },
  { title: "OS", value: (image) => [image.os.name, image.os.version ?? ""].join(" ").trim(), leaves: 4 },
  { title: "PLAN", value: (image) => textOr(image.plan), leaves: 7 },
  { title: "VCPU", value: (image) => numberOr(image.specs.vcpus), align: "right", leaves: 3 },
  { title: "MEMORY", value: (image) => memory(image.specs.memoryMib), align: "right", leaves: 5 },
  { title: "ZONE", value: (image) => textOr(image.zone), leaves: 1 },
  { title: "₹/HOUR", value: (image) => rupees(image.specs.pricePerHourInr), align: "right", leaves: 6 }
]
