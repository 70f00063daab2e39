/**
 * How large a machine is: the same columns of a node and of a plan. Which of them a narrow terminal drops first is the record's.
 */
import { disk, memory } from "../output/format.ts"
import { type Field, number } from "../output/RecordDescriptor.ts"

/** A record with the size of a machine. */
interface Sized {
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
}

export const vcpus: Field<Sized> = number("vcpus", "VCPU")

export const memoryMib: Field<Sized> = number("memoryMib", "MEMORY", {
  alias: "memory",
  value: ({ memoryMib }) => memory(memoryMib)
})

export const diskGb: Field<Sized> = number("diskGb", "DISK", { alias: "disk", value: ({ diskGb }) => disk(diskGb) })
