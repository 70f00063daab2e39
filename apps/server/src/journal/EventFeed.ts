/**
 * Tells of every request as it is answered, whichever world it was to. It keeps nothing: what a listener missed is in the
 * journals of the worlds.
 */
import type { World } from "../world/World.ts"
import type { Exchange, Recorded } from "./Journals.ts"

export type Listener = (world: World, recorded: Recorded) => void

export class EventFeed {
  readonly #listeners = new Set<Listener>()
  #count = 0

  /** Writes the journal of the world and tells those who listen. */
  record(world: World, exchange: Exchange): void {
    this.#count += 1
    const recorded = world.journal.record(exchange, this.#count)
    for (const listener of this.#listeners) listener(world, recorded)
  }

  /** Gives what ends the listening. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
