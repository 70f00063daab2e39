/**
 * The faults that are due at one request, in the order in which they were armed, and which of them act. Only one that acts
 * has fired: it is counted then, and its `times` are checked then, because other requests may have been answered meanwhile.
 */
import type { World } from "../world/World.ts"
import { kindByName } from "./catalogue.ts"
import type { FaultSteps, Firing, Occasion } from "./FaultKind.ts"
import { countFired, isUsedUp } from "./firing.ts"

interface DueFault {
  readonly firing: Firing
  readonly steps: FaultSteps
}

/** What the first fault that has something to give gives, and how it is counted if it is used. */
export interface Choice<A> {
  readonly value: A
  readonly use: () => A
}

export class DueFaults {
  readonly #world: World
  readonly #all: ReadonlyArray<DueFault>
  readonly #acted = new Set<DueFault>()

  constructor(firings: ReadonlyArray<Firing>, occasion: Occasion) {
    this.#world = occasion.world
    this.#all = firings.map((firing) => ({
      firing,
      steps: kindByName.get(firing.fault.fault)?.steps(firing, occasion) ?? {}
    }))
  }

  /** The names of those that have acted. */
  fired(): ReadonlyArray<string> {
    return this.#all.filter((due) => this.#acted.has(due)).map(({ firing }) => firing.fault.fault)
  }

  /** The first one that has a result. It acts when the result is used. */
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

  /** The result of the first one that has a result, which acts. */
  first<A>(give: (steps: FaultSteps) => A | undefined): A | undefined {
    return this.choose(give)?.use()
  }

  /** A value after each of them that changes it. */
  each<A>(value: A, change: (steps: FaultSteps, before: A) => A | undefined): A {
    return this.#all.reduce((before, due) => {
      const after = this.#mayAct(due) ? change(due.steps, before) : undefined
      if (after !== undefined) this.#count(due)
      return after ?? before
    }, value)
  }

  /** All that they add up to. */
  sum(amount: (steps: FaultSteps) => number | undefined): number {
    return this.each(0, (steps, before) => {
      const added = amount(steps) ?? 0
      return added > 0 ? before + added : undefined
    })
  }

  #mayAct(due: DueFault): boolean {
    return this.#acted.has(due) || !isUsedUp(this.#world.faults, due.firing)
  }

  #count(due: DueFault): void {
    if (this.#acted.has(due)) return
    this.#acted.add(due)
    this.#world.faults = countFired(this.#world.faults, due.firing)
  }
}
