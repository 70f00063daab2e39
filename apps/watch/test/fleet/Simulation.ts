/**
 * Simulates several machines in one process, in virtual time, from one seed. Everything that a machine's fibers do runs as tasks, one after
 * the other. Between any two tasks the machine may freeze or die, and the machines take turns at random.
 */
import { Clock, Duration, Effect, type Scheduler } from "effect"
import type { Chance } from "../diff/Chance.ts"

interface Planned {
  readonly atMillis: number
  readonly order: number
  readonly run: () => void
}

export class Simulation {
  nowMillis = 0
  readonly chance: Chance
  readonly machines: Array<Machine> = []
  /** The planned events, as a heap with the earliest first. */
  readonly #planned: Array<Planned> = []
  #order = 0

  constructor(chance: Chance) {
    this.chance = chance
  }

  /** A random time up to a maximum, usually a short one. */
  some(maxMillis: number): number {
    const { below, happens } = this.chance
    return happens(0.8) ? below(Math.ceil(maxMillis / 10) + 1) : below(maxMillis + 1)
  }

  after(millis: number, run: () => void): void {
    const planned = this.#planned
    const added = { atMillis: this.nowMillis + millis, order: ++this.#order, run }
    let at = planned.push(added) - 1
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = planned[(at - 1) >> 1]!
      if (isBefore(parent, added)) break
      planned[at] = parent
    }
    planned[at] = added
  }

  #first(): Planned | undefined {
    const planned = this.#planned
    const first = planned[0]
    const last = planned.pop()
    if (first === undefined || first === last || last === undefined) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= planned.length) break
      if (child + 1 < planned.length && isBefore(planned[child + 1]!, planned[child]!)) child++
      if (isBefore(last, planned[child]!)) break
      planned[at] = planned[child]!
      at = child
    }
    planned[at] = last
    return first
  }

  /** Runs everything until an instant. */
  runUntil(untilMillis: number): void {
    for (;;) {
      const ready = this.machines.filter((machine) => machine.isReady)
      if (ready.length > 0) {
        this.chance.oneOf(ready).turn()
        continue
      }
      const next = this.#planned[0]
      if (next === undefined || next.atMillis > untilMillis) break
      this.#first()
      this.nowMillis = next.atMillis
      next.run()
    }
    this.nowMillis = untilMillis
  }
}

const isBefore = (a: Planned, b: Planned) => a.atMillis < b.atMillis || (a.atMillis === b.atMillis && a.order < b.order)

export class Machine {
  readonly name: string
  readonly #simulation: Simulation
  readonly #aheadMillis: number
  state: "running" | "frozen" | "dead" = "running"
  /** Whether the network loses everything that the machine sends, and everything that is sent to it. */
  isCut = false
  #tasks: Array<() => void> = []
  #next = 0
  /** What happens to the machine, each after a number of further tasks. */
  #soon: Array<{ tasks: number; readonly run: () => void }> = []

  /** `aheadMillis`: how far the machine's wall clock is ahead of the simulation. */
  constructor(simulation: Simulation, name: string, aheadMillis: number) {
    this.#simulation = simulation
    this.name = name
    this.#aheadMillis = aheadMillis
    simulation.machines.push(this)
  }

  get isReady(): boolean {
    return this.state === "running" && this.#next < this.#tasks.length
  }

  /** Runs its next task. */
  turn(): void {
    const task = this.#tasks[this.#next++]!
    if (this.#next > 1000) {
      this.#tasks = this.#tasks.slice(this.#next)
      this.#next = 0
    }
    task()
    for (const soon of this.#soon) {
      if (--soon.tasks === 0) soon.run()
    }
  }

  /** Adds a task. A frozen machine runs it once it is no longer frozen. */
  enqueue(task: () => void): void {
    if (this.state !== "dead") this.#tasks.push(task)
  }

  /** Plans `run` between two of its tasks, after this many of them. */
  soon(tasks: number, run: () => void): void {
    this.#soon = this.#soon.filter((soon) => soon.tasks > 0)
    this.#soon.push({ tasks: tasks + 1, run })
  }

  freeze(): void {
    if (this.state === "running") this.state = "frozen"
  }

  thaw(): void {
    if (this.state === "frozen") this.state = "running"
  }

  die(): void {
    this.state = "dead"
    this.#tasks = []
    this.#next = 0
    this.#simulation.machines.splice(this.#simulation.machines.indexOf(this), 1)
  }

  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    // A yield of a fiber is an await like any other.
    shouldYield: (fiber) => fiber.currentOpCount >= 500,
    makeDispatcher: () => ({ scheduleTask: (task) => this.enqueue(task), flush: () => {} })
  }

  get clock(): Clock.Clock {
    const monotonic = () => BigInt(Math.round(this.#simulation.nowMillis * 1_000_000))
    const wall = () => beganMillis + this.#simulation.nowMillis + this.#aheadMillis
    return {
      currentTimeMillisUnsafe: wall,
      currentTimeMillis: Effect.sync(wall),
      currentTimeNanosUnsafe: () => BigInt(wall()) * 1_000_000n,
      currentTimeNanos: Effect.sync(() => BigInt(wall()) * 1_000_000n),
      monotonicTimeNanosUnsafe: monotonic,
      monotonicTimeNanos: Effect.sync(monotonic),
      sleep: (duration) =>
        Effect.callback<void>((resume) => {
          const millis = Duration.toMillis(duration)
          if (Number.isFinite(millis)) {
            this.#simulation.after(Math.max(0, millis), () => this.enqueue(() => resume(Effect.void)))
          }
        })
    }
  }
}

/** The time that correct clocks show when the simulation begins. */
export const beganMillis = Date.parse("2026-03-01T00:00:00Z")
