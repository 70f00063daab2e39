/**
 * The faults that are armed in a world, and which of them strike at a request: a function of the armed faults, the request,
 * the world's seed and the instant. Each fault counts its own requests and draws from the seed by its own name, so that
 * arming another one changes nothing for it.
 */
import { DateTime } from "effect"
import { matches } from "../lifecycle/Lifecycle.ts"
import { derive } from "../lifecycle/seed.ts"
import { type Fault, type FaultName, type FaultOf, kindByName } from "../injection/catalogue.ts"
import { readMoment } from "../injection/FaultKind.ts"
import type { Operation } from "./operations.ts"

export interface ArmedFault {
  readonly fault: Fault
  /** Which of the armed faults of its name it is, from 0. */
  readonly instance: number
  readonly fromMillis: number
  readonly untilMillis: number
  /** Requests in its scope and its time so far. */
  readonly seen: number
  /** How often it has struck. */
  readonly fired: number
}

/** Of a request, what faults look at. */
export interface RequestFacts {
  readonly operation: Operation | undefined
  readonly nodeId: number | undefined
  readonly nodeName: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A fault that strikes at a request. */
export interface Strike<Name extends FaultName = FaultName> {
  readonly fault: FaultOf<Name>
  /** How often it has struck before. */
  readonly earlier: number
  /** A 32-bit number for each of the things it has to choose. */
  readonly chance: (label: number) => number
}

export const arm = (faults: ReadonlyArray<Fault>, now: number): ReadonlyArray<ArmedFault> => {
  const instances = new Map<string, number>()
  return faults.map((fault) => {
    const instance = instances.get(fault.fault) ?? 0
    instances.set(fault.fault, instance + 1)
    return {
      fault,
      instance,
      fromMillis: fault.from === undefined ? Number.NEGATIVE_INFINITY : readMoment(fault.from, now)!,
      untilMillis: fault.until === undefined ? Number.POSITIVE_INFINITY : readMoment(fault.until, now)!,
      seen: 0,
      fired: 0
    }
  })
}

export const decide = (
  armed: ReadonlyArray<ArmedFault>,
  request: RequestFacts,
  seed: number,
  now: number
): { readonly armed: ReadonlyArray<ArmedFault>; readonly strikes: ReadonlyArray<Strike> } => {
  const strikes: Array<Strike> = []
  const next = armed.map((entry) => {
    if (now < entry.fromMillis || now >= entry.untilMillis || !isInScope(entry.fault, request)) return entry
    const seen = entry.seen + 1
    const chance = (label: number) => derive(seed, labelOf(entry.fault.fault), entry.instance, seen, label)
    if (!fires(entry, seen, chance)) return { ...entry, seen }
    strikes.push({ fault: entry.fault, earlier: entry.fired, chance })
    return { ...entry, seen, fired: entry.fired + 1 }
  })
  return { armed: next, strikes }
}

/** Labels of the choices that a fault makes; its own begin at 1. */
const ofProbability = 0

const fires = ({ fault, fired }: ArmedFault, seen: number, chance: (label: number) => number): boolean => {
  const { after = 0, every = 1, probability = 1, times = Number.POSITIVE_INFINITY } = fault
  return (
    fired < times &&
    seen > after &&
    (seen - after) % every === 0 &&
    (probability === 1 || chance(ofProbability) / 2 ** 32 < probability)
  )
}

/** Whether a fault looks at this request. */
const isInScope = ({ fault, scope }: Fault, request: RequestFacts): boolean => {
  const only = kindByName.get(fault)?.only
  if (only !== undefined && (request.operation === undefined || !only.includes(request.operation))) return false
  if (scope === undefined) return true
  const { header, node, operation } = scope
  if (operation !== undefined) {
    if (request.operation === undefined) return false
    if (typeof operation === "string" ? operation !== request.operation : !operation.includes(request.operation)) {
      return false
    }
  }
  if (typeof node === "number" && node !== request.nodeId) return false
  if (typeof node === "string" && (request.nodeName === undefined || !matches(node, request.nodeName))) return false
  return Object.entries(header ?? {}).every(([name, pattern]) => {
    const value = request.headers[name.toLowerCase()]
    return value !== undefined && matches(pattern, value)
  })
}

/** Whether any fault asks for the node a request is about. */
export const looksAtNodes = (armed: ReadonlyArray<ArmedFault>): boolean =>
  armed.some(({ fault }) => fault.scope?.node !== undefined)

const labels = new Map<string, number>()

/** A number for a name, the same in every process (FNV-1a). */
const labelOf = (name: string): number => {
  let label = labels.get(name)
  if (label === undefined) {
    label = 0x811c9dc5
    for (let i = 0; i < name.length; i++) label = Math.imul(label ^ name.charCodeAt(i), 0x01000193)
    labels.set(name, label)
  }
  return label
}

/** An armed fault as it is told: what was asked for, with instants for durations, and what it has done so far. */
export const describeArmed = ({ fault, fired, fromMillis, seen, untilMillis }: ArmedFault) => ({
  ...fault,
  ...(fault.from === undefined ? {} : { from: isoInstant(fromMillis) }),
  ...(fault.until === undefined ? {} : { until: isoInstant(untilMillis) }),
  seen,
  fired
})

const isoInstant = (ms: number): string => DateTime.formatIso(DateTime.makeUnsafe(ms))
