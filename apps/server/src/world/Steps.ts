/**
 * Work on many nodes, in steps: between two of them a server can answer requests.
 */
import type { WorldSettings } from "./WorldSettings.ts"

/** Work that can be interrupted at each `yield`. */
export type Steps<A> = Generator<void, A>

/** Does all of it at once. */
export const toEnd = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Nodes of one step, where no name is compared with patterns. */
const nodesPerStep = 1000

/** How many nodes a step of this world works on. */
export const stepSize = ({ lifecycle }: WorldSettings): number =>
  Math.ceil(nodesPerStep / (1 + lifecycle.byName.length))

/** Counts nodes: whether a step ends with the next one. */
export const endOfStep = (settings: WorldSettings): (() => boolean) => {
  const perStep = stepSize(settings)
  let nodes = 0
  return () => ++nodes % perStep === 0
}
