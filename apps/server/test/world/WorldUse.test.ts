import { expect, it } from "@effect/vitest"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { WorldUse } from "../../src/world/WorldUse.ts"

it("a world is in use while it is watched, and idle from the moment at which the last watcher goes", () => {
  const use = new WorldUse()
  const world = World.make(defaults, 0)
  use.begin(world, 0)
  use.watch(world)
  use.watch(world)
  expect(use.idleSince(1_000)).toEqual([])
  use.unwatch(world, 500)
  expect(use.idleSince(1_000)).toEqual([])
  use.unwatch(world, 1_000)
  expect(use.idleSince(999)).toEqual([])
  expect(use.idleSince(1_000)).toEqual([world])
})
