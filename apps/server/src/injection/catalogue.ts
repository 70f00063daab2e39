/**
 * All faults. If you add a fault to the file of its family, it appears everywhere: in the control plane, in `--fault`, in
 * `berth-server faults`, and in the test that fails if a fault has no proof. A proof compares what a client sees while the
 * fault is armed with what it sees without the fault.
 */
import { Schema } from "effect"
import { httpFaults } from "./httpFaults.ts"
import { nodeFaults } from "./nodeFaults.ts"
import { recordFaults } from "./recordFaults.ts"
import { wireFaults } from "./wireFaults.ts"

/** All faults by what they affect: the HTTP reply, the wire, or the meaning of a well-formed reply. */
export const families = { HTTP: httpFaults, Wire: wireFaults, Semantic: [...nodeFaults, ...recordFaults] } as const

/** The definitions of all faults. */
export const catalogue = [...families.HTTP, ...families.Wire, ...families.Semantic] as const

/** A fault to arm, with its options, trigger and scope. */
export type Fault = (typeof catalogue)[number]["schema"]["Type"]
/** The name of a fault, such as `latency`. */
export type FaultName = Fault["fault"]

export const Fault: Schema.Codec<Fault> = Schema.Union(catalogue.map(({ schema }) => schema)).annotate({
  identifier: "Fault"
}) as never

export const kindByName: ReadonlyMap<string, (typeof catalogue)[number]> = new Map(
  catalogue.map((entry) => [entry.name, entry])
)
