import { expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { endWorld } from "../../src/control/endWorld.ts"
import { Journals } from "../../src/journal/Journals.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { Worlds } from "../../src/world/Worlds.ts"
import { WorldUse } from "../../src/world/WorldUse.ts"

it("a world that is deleted is no longer among those that may be idle", () => {
  const use = new WorldUse()
  const worlds = new Worlds(World.make(defaults, 0))
  const asked = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
  const world = Result.getOrThrow(worlds.add(asked, (id, account) => World.make({ ...defaults, account }, 0, id)))
  use.begin(world, 0)
  expect(use.idleSince(0)).toEqual([world])
  Result.getOrThrow(endWorld({ worlds, use, journals: new Journals(), realMillis: () => 0 }, world.id, "deleted"))
  expect(use.idleSince(0)).toEqual([])
})
