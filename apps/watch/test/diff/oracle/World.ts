/**
 * An account whose nodes come, change and go at random, with a record of every moment: the truth against which the daemon's reports are
 * compared.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { KnownStatus } from "@berthkit/core/domain/NodeStatus"
import { aNode } from "../aNode.ts"
import type { Chance } from "../Chance.ts"

/** One node from its creation to its end. Another node may get the same id later. */
export interface Life {
  readonly id: number
  readonly createdMillis: number
  /** Every status of the node, oldest first. */
  readonly statuses: Array<{ readonly status: KnownStatus; readonly fromMillis: number }>
  name: string
  goneMillis: number
}

const next: Readonly<Record<KnownStatus, ReadonlyArray<KnownStatus | "gone">>> = {
  creating: ["created"],
  created: ["running", "running", "running", "terminate"],
  running: ["power-off", "power-off", "power-off", "terminate", "terminate", "gone"],
  "power-off": ["running", "running", "running", "terminate", "gone"],
  terminate: ["gone"]
}

export const wasTerminating = (life: Life): boolean => life.statuses.some(({ status }) => status === "terminate")

export class World {
  readonly lives: Array<Life> = []
  readonly #chance: Chance
  readonly #alive = new Map<number, Life>()
  readonly #free: Array<number> = []
  #lastId = 100

  constructor(chance: Chance, size: number, atMillis: number) {
    this.#chance = chance
    for (let n = 0; n < size; n++) this.#create(++this.#lastId, "running", atMillis)
  }

  get alive(): ReadonlyArray<Life> {
    return Array.from(this.#alive.values()).sort((a, b) => a.id - b.id)
  }

  find(id: number): Life | undefined {
    return this.#alive.get(id)
  }

  /** Changes something at random. */
  happen(atMillis: number): void {
    const { below, happens, oneOf } = this.#chance
    if (happens(0.2)) this.#create(++this.#lastId, "created", atMillis)
    if (happens(0.1)) this.#reuse(atMillis)
    if (this.#alive.size === 0) return
    if (happens(0.01)) {
      const last = below(this.#alive.size) + 1
      for (const life of this.alive.slice(0, last)) this.#become(life, "gone", atMillis)
      return
    }
    const life = oneOf(this.alive)
    if (happens(0.1)) life.name = `renamed-${atMillis}`
    else this.#become(life, oneOf(next[statusOf(life)]), atMillis)
  }

  #create(id: number, status: KnownStatus, atMillis: number): void {
    const statuses = [{ status, fromMillis: atMillis }]
    const life: Life = { id, createdMillis: atMillis, statuses, name: `node-${id}`, goneMillis: Infinity }
    this.lives.push(life)
    this.#alive.set(id, life)
  }

  /** The id of a deleted node may go to another node, two seconds later at the earliest. */
  #reuse(atMillis: number): void {
    const index = this.#free.findIndex(
      (id) => this.lives.findLast((life) => life.id === id)!.goneMillis + 2000 < atMillis
    )
    if (index >= 0) this.#create(this.#free.splice(index, 1)[0]!, "created", atMillis)
  }

  #become(life: Life, status: KnownStatus | "gone", atMillis: number): void {
    if (status === "gone") {
      life.goneMillis = atMillis
      this.#alive.delete(life.id)
      this.#free.push(life.id)
    } else {
      life.statuses.push({ status, fromMillis: atMillis })
    }
  }
}

export const statusOf = (life: Life, atMillis = Infinity): KnownStatus =>
  (life.statuses.findLast(({ fromMillis }) => fromMillis <= atMillis) ?? life.statuses[0]!).status

/** The record of a life at an instant. */
export const nodeAt = (life: Life, atMillis = Infinity): Node =>
  aNode({ id: life.id, createdAtMillis: life.createdMillis, status: statusOf(life, atMillis), name: life.name })

/** The statuses a node had at some time in `[fromMillis, toMillis]`. */
export const statusesBetween = (life: Life, fromMillis: number, toMillis: number): ReadonlyArray<KnownStatus> =>
  life.statuses
    .filter(({ fromMillis: began }, index) => {
      const ended = life.statuses[index + 1]?.fromMillis ?? life.goneMillis
      return began <= toMillis && ended >= fromMillis
    })
    .map(({ status }) => status)
