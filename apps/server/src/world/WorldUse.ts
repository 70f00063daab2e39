/**
 * When each world was last used, so that those that a test has forgotten can end. Worlds that are not noted here are never
 * idle: the main one, and the others that the server began with. Instants are milliseconds of real time.
 */
import type { World } from "./World.ts"

export class WorldUse {
  readonly #usedAt = new Map<World, number>()
  /** How many programs watch a world: as long as one does, the world is in use. */
  readonly #watchers = new Map<World, number>()

  /** From now on the world is idle when it is not used. */
  begin(world: World, now: number): void {
    this.#usedAt.set(world, now)
  }

  /** Notes a request to the world, or about it. */
  note(world: World, now: number): void {
    if (this.#usedAt.has(world)) this.#usedAt.set(world, now)
  }

  /** Whether it may end when it is idle. */
  mayEnd(world: World): boolean {
    return this.#usedAt.has(world)
  }

  watch(world: World): void {
    this.#watchers.set(world, (this.#watchers.get(world) ?? 0) + 1)
  }

  unwatch(world: World, now: number): void {
    const others = (this.#watchers.get(world) ?? 1) - 1
    if (others > 0) this.#watchers.set(world, others)
    else this.#watchers.delete(world)
    this.note(world, now)
  }

  /** The world has ended. */
  end(world: World): void {
    this.#usedAt.delete(world)
  }

  /** The worlds that are not watched and have not been used since an instant. */
  idleSince(instant: number): ReadonlyArray<World> {
    return Array.from(this.#usedAt).flatMap(([world, usedAt]) =>
      usedAt <= instant && !this.#watchers.has(world) ? [world] : []
    )
  }
}
