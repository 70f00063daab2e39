/**
 * All faults there are. A fault is added in the file of its family and shows everywhere: in the control plane, in
 * `--fault`, in the list that `berth-server faults` prints, and in the test that asks for a proof of each.
 */
import { Schema } from "effect"
import { httpFaults } from "./httpFaults.ts"
import { nodeFaults } from "./nodeFaults.ts"
import { recordFaults } from "./recordFaults.ts"
import { wireFaults } from "./wireFaults.ts"

/** All faults by where they show: in the reply as HTTP, on the wire, or in the meaning of a well-formed reply. */
export const families = { HTTP: httpFaults, Wire: wireFaults, Semantic: [...nodeFaults, ...recordFaults] } as const

/** The definitions of all faults. */
export const catalogue = [...families.HTTP, ...families.Wire, ...families.Semantic] as const

/** A fault to be armed, with its options, its trigger and its scope. */
export type Fault = (typeof catalogue)[number]["schema"]["Type"]
/** The name of a fault, such as `latency`. */
export type FaultName = Fault["fault"]

export const Fault: Schema.Codec<Fault> = Schema.Union(catalogue.map(({ schema }) => schema)).annotate({
  identifier: "Fault"
}) as never

export const kindByName: ReadonlyMap<string, (typeof catalogue)[number]> = new Map(
  catalogue.map((entry) => [entry.name, entry])
)
