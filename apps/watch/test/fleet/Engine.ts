/**
 * Assigns the accounts of a simulation to machines like Effect Cluster, according to which machines were heard from within the last few
 * seconds. Unlike Effect Cluster, it sometimes gives an account to a second machine while the first one still has it, and tells the first
 * machine late or never.
 */
import { Context, Effect, Fiber, Layer } from "effect"
import { Placement } from "../../src/fleet/Placement.ts"
import type { Machine, Simulation } from "./Simulation.ts"

const tickMillis = 1000
const expiryMillis = 6000
const maxLateMillis = 5000

interface Member {
  readonly machine: Machine
  /** What a machine can run, and what it runs. */
  readonly parts: Map<string, () => Fiber.Fiber<unknown, unknown>>
  readonly running: Map<string, Fiber.Fiber<unknown, unknown>>
  heardMillis: number
}

export class Engine {
  readonly #simulation: Simulation
  readonly #members = new Map<Machine, Member>()
  readonly #placed = new Map<string, Machine>()
  isCalm = false

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    simulation.after(tickMillis, () => this.#tick())
  }

  join(machine: Machine): void {
    this.#members.set(machine, {
      machine,
      parts: new Map(),
      running: new Map(),
      heardMillis: this.#simulation.nowMillis
    })
  }

  layer(machine: Machine): Layer.Layer<Placement> {
    const { parts, running } = this.#members.get(machine)!
    return Layer.succeed(Placement, {
      place: (name, run) =>
        Effect.acquireRelease(
          Effect.map(Effect.context(), (context) => {
            parts.set(name, () => Effect.runForkWith(context as Context.Context<any>)(run as Effect.Effect<never>))
          }),
          () =>
            Effect.suspend(() => {
              const fiber = running.get(name)
              parts.delete(name)
              running.delete(name)
              return fiber === undefined ? Effect.void : Fiber.interrupt(fiber)
            })
        ) as never
    })
  }

  #tick(): void {
    const { chance, nowMillis } = this.#simulation
    this.#simulation.after(tickMillis, () => this.#tick())
    const isHeard = ({ machine }: Member) => machine.state === "running" && !machine.isCut
    for (const [machine, member] of this.#members) {
      if (machine.state === "dead" && nowMillis - member.heardMillis > expiryMillis) this.#members.delete(machine)
      else if (isHeard(member)) member.heardMillis = nowMillis
    }
    const able = Array.from(this.#members.values()).filter((member) => isHeard(member) && member.parts.size > 0)
    if (able.length === 0) return
    for (const name of new Set(able.flatMap(({ parts }) => [...parts.keys()]))) {
      const present = this.#members.get(this.#placed.get(name)!)
      const isGone =
        present === undefined ||
        nowMillis - present.heardMillis > expiryMillis ||
        (isHeard(present) && !present.parts.has(name))
      if (!isGone && (this.isCalm || !chance.happens(0.03))) continue
      const next = chance.oneOf(able)
      this.#placed.set(name, next.machine)
      this.#begin(next, name)
    }
    // Tells a machine that it has lost an account; sometimes it forgets to.
    for (const member of this.#members.values()) {
      for (const name of member.running.keys()) {
        if (this.#placed.get(name) === member.machine || !isHeard(member)) continue
        if (!this.isCalm && chance.happens(0.5)) continue
        this.#simulation.after(this.#simulation.some(maxLateMillis), () => this.#end(member, name))
      }
    }
  }

  #begin({ machine, parts, running }: Member, name: string): void {
    machine.enqueue(() => {
      const run = parts.get(name)
      if (run === undefined || running.has(name)) return
      running.set(name, run())
    })
  }

  #end({ machine, running }: Member, name: string): void {
    machine.enqueue(() => {
      const fiber = running.get(name)
      if (fiber === undefined || this.#placed.get(name) === machine) return
      running.delete(name)
      fiber.interruptUnsafe()
    })
  }
}
