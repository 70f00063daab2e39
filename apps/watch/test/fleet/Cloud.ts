/**
 * The service of a simulation: an account with nodes. Its answers are true but sometimes lost. The file also has the receiver of the
 * events, which fails a third of the time.
 */
import { Unreachable } from "@berthkit/core/domain/ErrorReason"
import { Transport, type WireReply } from "@berthkit/core/client/transport/Transport"
import { nodeRecord } from "@berthkit/core/testing"
import { DateTime, Effect, Layer } from "effect"
import { delivered, failed, type Outcome } from "../../src/deliver/Health.ts"
import { nodeAt, World } from "../diff/oracle/World.ts"
import { exchange } from "./exchange.ts"
import { beganMillis, type Machine, type Simulation } from "./Simulation.ts"

const maxChangeMillis = 3000
const maxTransitMillis = 100

/** An allowance that is larger than needed. */
const headers = {
  "content-type": "application/json",
  "ratelimit-limit": "1000000",
  "ratelimit-remaining": "999999",
  "ratelimit-reset": "3600"
}

const envelope = (status: number, data: unknown, message = "Success"): WireReply => ({
  status,
  headers,
  body: JSON.stringify({ message, code: status, data, errors: {} }),
  whole: true
})

const isLost = new Unreachable({ sent: "maybe", detail: "the connection broke" })

export class Cloud {
  readonly #simulation: Simulation
  readonly world: World
  isCalm = false

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    this.world = new World(simulation.chance, 3, beganMillis)
    this.#change()
  }

  get #now(): number {
    return beganMillis + this.#simulation.nowMillis
  }

  #change(): void {
    this.#simulation.after(this.#simulation.chance.below(maxChangeMillis), () => {
      if (this.isCalm) return
      this.world.happen(this.#now)
      this.#change()
    })
  }

  #answer(url: string, query: ReadonlyMap<string, unknown>): WireReply {
    const { chance } = this.#simulation
    if (!this.isCalm && chance.happens(0.03)) return envelope(503, {}, "Maintenance.")
    const record = (life: Parameters<typeof nodeAt>[0]) => {
      const { createdAt, id, name, status } = nodeAt(life, this.#now)
      return nodeRecord({ id, name, status, created_at: DateTime.formatIso(createdAt!) })
    }
    const id = /\/nodes\/(\d+)\/$/.exec(url)?.[1]
    if (id !== undefined) {
      const life = this.world.find(Number(id))
      return life === undefined ? envelope(404, {}, "Not found.") : envelope(200, record(life))
    }
    const size = Number(query.get("per_page"))
    const start = (Number(query.get("page_no") ?? 1) - 1) * size
    return envelope(200, this.world.alive.slice(start, start + size).map(record))
  }

  /** The connection from a machine to the service. */
  transport(machine: Machine): Layer.Layer<Transport> {
    return Layer.succeed(Transport, {
      send: ({ query, url }, begun) =>
        exchange<WireReply, Unreachable>(
          this.#simulation,
          machine,
          (reply) => {
            const answer = this.#answer(url, new Map(query))
            if (!this.isCalm && this.#simulation.chance.happens(0.03)) return reply(Effect.fail(isLost))
            this.#simulation.after(this.#simulation.some(maxTransitMillis), () => reply(Effect.succeed(answer)))
          },
          () => Effect.fail(isLost)
        ).pipe(Effect.tap(({ headers, status }) => Effect.sync(() => begun({ headers, status }))))
    })
  }
}

export class Recipient {
  readonly #simulation: Simulation
  isCalm = false
  readonly #failed = new Set<string>()
  /** The ids of the events it has taken, in order, including repeated ones. */
  readonly ids: Array<string> = []

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  /** An attempt of a machine to deliver an event. */
  attempt(machine: Machine, id: string): Effect.Effect<Outcome> {
    const { chance } = this.#simulation
    return exchange<Outcome, never>(
      this.#simulation,
      machine,
      (reply) => {
        // No event fails twice, because after two failures the daemon waits for minutes.
        const hasFailed = !this.isCalm && !this.#failed.has(id) && chance.happens(1 / 3)
        if (hasFailed) this.#failed.add(id)
        // The receiver may have taken the event although it answered with a failure.
        if (!hasFailed || chance.happens(0.3)) this.ids.push(id)
        reply(Effect.succeed(hasFailed ? failed("unavailable", "the receiver answered 503") : delivered))
      },
      null
    )
  }
}
