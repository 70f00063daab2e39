/**
 * Which of the armed faults are due at a request: a function of the armed faults, the request, the world's seed and the
 * instant. Each fault counts its own requests and draws from the seed by its own name, so that arming another one changes
 * nothing for it. Which of those that are due act, and so have fired, is decided in `injectFaults.ts`.
 */
import type { ArmedFault } from "../faults/ArmedFault.ts"
import type { AnyFault } from "../faults/Fault.ts"
import type { Operation } from "../faults/operations.ts"
import { matches } from "../lifecycle/pattern.ts"
import { derive } from "../lifecycle/seed.ts"
import { kindByName } from "./catalogue.ts"
import type { Firing } from "./FaultKind.ts"

/** The part of a request that scopes compare. */
export interface RequestFacts {
  readonly operation: Operation | undefined
  readonly nodeId: number | undefined
  readonly nodeName: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The faults that are due, and all armed faults, which have seen the request. */
export const decide = (
  armed: ReadonlyArray<ArmedFault>,
  request: RequestFacts,
  seed: number,
  now: number
): { readonly armed: ReadonlyArray<ArmedFault>; readonly firings: ReadonlyArray<Firing> } => {
  const firings: Array<Firing> = []
  const next = armed.map((entry) => {
    if (now < entry.fromMillis || now >= entry.untilMillis || !isInScope(entry.fault, request)) return entry
    const seen = entry.seen + 1
    const chance = (label: number) => derive(seed, labelOf(entry.fault.fault), entry.instance, seen, label)
    if (!fires(entry, seen, chance)) return { ...entry, seen }
    firings.push({ fault: entry.fault, seen, chance })
    return { ...entry, seen }
  })
  return { armed: next, firings }
}

/** Whether a fault that was due has fired as often as it may by now, at requests that were answered meanwhile. */
export const isUsedUp = (armed: ReadonlyArray<ArmedFault>, { fault }: Firing): boolean =>
  armed.some((entry) => entry.fault === fault && entry.fired >= (fault.times ?? Number.POSITIVE_INFINITY))

/** The armed faults after one of them has acted. */
export const countFired = (armed: ReadonlyArray<ArmedFault>, { fault }: Firing): ReadonlyArray<ArmedFault> =>
  armed.map((entry) => (entry.fault === fault ? { ...entry, fired: entry.fired + 1 } : entry))

/** Label of the choice whether to fire; those of a kind of fault begin at 1. */
const probabilityLabel = 0

const fires = ({ fault, fired }: ArmedFault, seen: number, chance: (label: number) => number): boolean => {
  const { after = 0, every = 1, probability = 1, times = Number.POSITIVE_INFINITY } = fault
  return (
    fired < times &&
    seen > after &&
    (seen - after) % every === 0 &&
    (probability === 1 || chance(probabilityLabel) / 2 ** 32 < probability)
  )
}

const isInScope = ({ fault, scope }: AnyFault, request: RequestFacts): boolean => {
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
    const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined
    return value !== undefined && matches(pattern, value)
  })
}

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
