import { expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { Worlds } from "../../src/world/Worlds.ts"

const asked = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }

const withWorld = () => {
  const worlds = new Worlds(World.make(defaults, 0))
  const made = worlds.add(asked, (id, account) => World.make({ ...defaults, account }, 0, id))
  const world = Result.getOrThrow(made)
  worlds.letEnd(world, 0)
  return { world, worlds }
}

it("a world is in use until the last use of it ends, and idle from then on", () => {
  const { world, worlds } = withWorld()
  const ends = [worlds.use(world, 0), worlds.use(world, 0)]
  expect(worlds.idleSince(1_000)).toEqual([])
  ends[0]!(500)
  expect(worlds.idleSince(1_000)).toEqual([])
  ends[1]!(1_000)
  expect(worlds.idleSince(999)).toEqual([])
  expect(worlds.idleSince(1_000)).toEqual([world])
})

it("the main world is never idle", () => {
  const { worlds } = withWorld()
  worlds.use(worlds.main, 0)(0)
  expect([worlds.mayEnd(worlds.main), worlds.idleSince(1_000).includes(worlds.main)]).toEqual([false, false])
})
