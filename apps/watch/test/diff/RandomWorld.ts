/**
 * An account whose nodes come, change and go by chance, and a record of every moment of it: the truth to compare the
 * reports of the daemon with.
 */
import type { KnownStatus } from "@berth/core/domain/NodeStatus"
import type { Node } from "@berth/core/domain/Node"
import { aNode } from "./aNode.ts"
import type { Chance } from "./Chance.ts"

/** One node from its creation to its end. Another node may get the same id later. */
export interface Life {
  readonly id: number
  readonly createdAtMillis: number
  /** Every status it ever had, oldest first. */
  readonly statuses: Array<{ readonly status: KnownStatus; readonly fromMillis: number }>
  goneMillis: number
}

/** How many seconds after 1970 the world begins: createdAt may not be mistaken for nothing. */
const beginMillis = 1_000_000_000

const next: Readonly<Record<KnownStatus, ReadonlyArray<KnownStatus | "gone">>> = {
  creating: ["created"],
  created: ["running", "running", "running", "terminate"],
  running: ["power-off", "power-off", "power-off", "terminate", "gone"],
  "power-off": ["running", "running", "running", "terminate", "gone"],
  terminate: ["gone"]
}

export class RandomWorld {
  readonly lives: Array<Life> = []
  readonly #chance: Chance
  readonly #alive = new Map<number, Life>()
  #nowMillis = beginMillis
  #lastId = 100

  constructor(chance: Chance, size: number) {
    this.#chance = chance
    for (let n = 0; n < size; n++) this.#create(++this.#lastId, "running")
  }

  get nowMillis(): number {
    return this.#nowMillis
  }

  get alive(): ReadonlyArray<Life> {
    return Array.from(this.#alive.values()).sort((a, b) => a.id - b.id)
  }

  statusOf(life: Life): KnownStatus {
    return life.statuses.at(-1)!.status
  }

  node(life: Life): Node {
    const { createdAtMillis, id } = life
    return aNode({ id, createdAtMillis, status: this.statusOf(life) })
  }

  find(id: number): Life | undefined {
    return this.#alive.get(id)
  }

  pass(millis: number): void {
    this.#nowMillis += millis
  }

  /** Something happens, or nothing. */
  happen(): void {
    const { happens, oneOf } = this.#chance
    if (happens(0.03)) this.#create(++this.#lastId, "created")
    if (happens(0.01)) this.#reuse()
    if (happens(0.002)) for (const life of this.alive) this.#become(life, "gone")
    if (this.#alive.size > 0 && happens(0.15)) {
      const life = oneOf(this.alive)
      this.#become(life, oneOf(next[this.statusOf(life)]))
    }
  }

  #create(id: number, status: KnownStatus): void {
    const createdAtMillis = this.#nowMillis
    const statuses = [{ status, fromMillis: createdAtMillis }]
    const life: Life = { id, createdAtMillis, statuses, goneMillis: Infinity }
    this.lives.push(life)
    this.#alive.set(id, life)
  }

  /** The id of a node that is gone is given to another, a second later at the earliest. */
  #reuse(): void {
    const free = this.lives.filter(({ goneMillis, id }) => goneMillis + 1000 < this.#nowMillis && !this.#alive.has(id))
    if (free.length > 0) this.#create(this.#chance.oneOf(free).id, "created")
  }

  #become(life: Life, status: KnownStatus | "gone"): void {
    if (status === "gone") {
      life.goneMillis = this.#nowMillis
      this.#alive.delete(life.id)
    } else {
      life.statuses.push({ status, fromMillis: this.#nowMillis })
    }
  }
}

/** The statuses a node had at some time in `[fromMillis, toMillis]`. */
export const statusesBetween = (life: Life, fromMillis: number, toMillis: number): ReadonlyArray<KnownStatus> =>
  life.statuses
    .filter(({ fromMillis: began }, index) => {
      const ended = life.statuses[index + 1]?.fromMillis ?? life.goneMillis
      return began <= toMillis && ended >= fromMillis
    })
    .map(({ status }) => status)
