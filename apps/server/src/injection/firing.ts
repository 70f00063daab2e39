/**
 * Decides which armed faults are due at a request. This depends only on the armed faults, the request, the world's seed and
 * the instant. Each fault counts its own requests and draws its own random numbers, so arming one fault does not change
 * another. A due fault has fired only when it acts: `injectFaults.ts` asks the due faults step by step.
 */
import type { ArmedFault } from "../faults/ArmedFault.ts"
import type { AnyFault } from "../faults/Fault.ts"
import type { Operation } from "@berthkit/profile/operations"
import { matches } from "../lifecycle/pattern.ts"
import { derive } from "../lifecycle/seed.ts"
import { kindByName } from "./catalogue.ts"
import type { FaultSteps, Firing, Occasion } from "./FaultKind.ts"

/** The facts about a request that scopes compare. */
export interface RequestFacts {
  readonly operation: Operation | undefined
  readonly nodeId: number | undefined
  readonly nodeName: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A due fault, with the armed fault, which counts how often it fires. */
interface DueFiring extends Firing {
  readonly armed: ArmedFault
}

/** The faults that are due. The request counts as seen for each fault that has it in its scope and time. */
export const decide = (
  armed: ReadonlyArray<ArmedFault>,
  request: RequestFacts,
  seed: number,
  now: number
): ReadonlyArray<DueFiring> =>
  armed.flatMap((entry) => {
    const { fault, fromMillis = Number.NEGATIVE_INFINITY, instance, untilMillis = Number.POSITIVE_INFINITY } = entry
    if (now < fromMillis || now >= untilMillis || !isInScope(fault, request)) return []
    const seen = ++entry.seen
    const chance = (label: number) => derive(seed, labelOf(fault.fault), instance, seen, label)
    return fires(entry, chance) ? [{ fault, armed: entry, seen, chance }] : []
  })

/** Label of the random choice whether a fault fires. The labels of a fault's own choices start at 1. */
const probabilityLabel = 0

const fires = ({ fault, fired, seen }: ArmedFault, chance: (label: number) => number): boolean => {
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

/** A number for a name, which is the same in every process (FNV-1a). */
const labelOf = (name: string): number => {
  let label = 0x811c9dc5
  for (let i = 0; i < name.length; i++) label = Math.imul(label ^ name.charCodeAt(i), 0x01000193)
  return label
}

interface DueFault {
  readonly firing: DueFiring
  readonly steps: FaultSteps
}

/** The first result that a due fault offers. `use` returns it and counts the fault as fired. */
export interface Choice<A> {
  readonly value: A
  readonly use: () => A
}

/**
 * The due faults of one request, in the order in which they were armed. A fault is counted when it acts. Its `times` are
 * checked again at that moment, because the fault may have acted on other requests in the meantime.
 */
export class DueFaults {
  readonly #all: ReadonlyArray<DueFault>
  readonly #acted = new Set<DueFault>()

  constructor(firings: ReadonlyArray<DueFiring>, occasion: Occasion) {
    this.#all = firings.map((firing) => ({
      firing,
      steps: kindByName.get(firing.fault.fault)?.steps(firing, occasion) ?? {}
    }))
  }

  /** The names of the faults that acted. */
  fired(): ReadonlyArray<string> {
    return this.#all.filter((due) => this.#acted.has(due)).map(({ firing }) => firing.fault.fault)
  }

  /** The first result that a fault offers. The fault counts as fired once the result is used. */
  choose<A>(give: (steps: FaultSteps) => A | undefined): Choice<A> | undefined {
    for (const due of this.#all) {
      const value = this.#mayAct(due) ? give(due.steps) : undefined
      if (value === undefined) continue
      const use = () => {
        this.#count(due)
        return value
      }
      return { value, use }
    }
    return undefined
  }

  /** The first result that a fault offers, used at once. */
  first<A>(give: (steps: FaultSteps) => A | undefined): A | undefined {
    return this.choose(give)?.use()
  }

  /** Passes a value through every fault that changes it. */
  each<A>(value: A, change: (steps: FaultSteps, before: A) => A | undefined): A {
    return this.#all.reduce((before, due) => {
      const after = this.#mayAct(due) ? change(due.steps, before) : undefined
      if (after !== undefined) this.#count(due)
      return after ?? before
    }, value)
  }

  /** The sum of what the faults return. */
  sum(amount: (steps: FaultSteps) => number | undefined): number {
    return this.each(0, (steps, before) => {
      const added = amount(steps) ?? 0
      return added > 0 ? before + added : undefined
    })
  }

  #mayAct(due: DueFault): boolean {
    const { armed, fault } = due.firing
    return this.#acted.has(due) || armed.fired < (fault.times ?? Number.POSITIVE_INFINITY)
  }

  #count(due: DueFault): void {
    if (this.#acted.has(due)) return
    this.#acted.add(due)
    due.firing.armed.fired += 1
  }
}
