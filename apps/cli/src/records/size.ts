/**
 * How large a machine is: the same columns of a node and of a plan. Which of them a narrow terminal drops first is the record's.
 */
import { disk, memory, numberOr } from "../output/format.ts"
import type { Field } from "../output/RecordDescriptor.ts"

/** A record with the size of a machine. */
interface Sized {
  readonly vcpus: number | null
  readonly memoryMib: number | null
  readonly diskGb: number | null
}

export const vcpus: Field<Sized> = {
  key: "vcpus",
  title: "VCPU",
  value: ({ vcpus }) => numberOr(vcpus),
  align: "right"
}

export const memoryMib: Field<Sized> = {
  key: "memoryMib",
  title: "MEMORY",
  alias: "memory",
  value: ({ memoryMib }) => memory(memoryMib),
  align: "right"
}

export const diskGb: Field<Sized> = {
  key: "diskGb",
  title: "DISK",
  alias: "disk",
  value: ({ diskGb }) => disk(diskGb),
  align: "right"
}
