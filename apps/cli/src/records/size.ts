/**
 * The size of a machine: the same columns for nodes and plans. The record decides which columns a narrow terminal drops first.
 */
import { disk, memory } from "../output/format.ts"
import { type Field, number } from "../output/RecordDescriptor.ts"

/** A record with a machine size. */
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
