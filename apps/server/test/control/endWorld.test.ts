import { expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { endWorld } from "../../src/control/ControlledWorlds.ts"
import { Journals } from "../../src/journal/Journals.ts"
import { defaultLifecycle } from "../../src/lifecycle/NodeLife.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { populate } from "../../src/world/scenario.ts"
import { Worlds } from "../../src/world/Worlds.ts"

it("a world that is deleted is no longer among those that may be idle", () => {
  const worlds = new Worlds(World.make(defaults, 0))
  const asked = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
  const world = Result.getOrThrow(worlds.add(asked, (id, account) => World.make({ ...defaults, account }, 0, id)))
  worlds.letEnd(world, 0)
  expect(worlds.idleSince(0)).toEqual([world])
  Result.getOrThrow(endWorld({ worlds, journals: new Journals(), realMillis: () => 0 }, world.id, "deleted"))
  expect(worlds.idleSince(0)).toEqual([])
})

it("a world ends at its present instant at once, although all of its nodes have ended by then", () => {
  const outcomes = { runs: 0, stuck: 0, powersOff: 0, vanishes: 1 }
  const settings = { ...defaults, lifecycle: { ...defaultLifecycle, outcomes, outcomeAfterMillis: 86_400_000 } }
  const [worlds, journals] = [new Worlds(World.make(defaults, 0)), new Journals()]
  const world = Result.getOrThrow(worlds.add({}, (id, account) => World.make({ ...settings, account }, 0, id)))
  populate(world, { fleet: 5_000 })
  const later = 10 * 86_400_000
  Result.getOrThrow(endWorld({ worlds, journals, realMillis: () => later }, world.id, "deleted"))
  expect(journals.ofEnded(world.id)).toMatchObject({ ended: { at: later } })
  expect([world.nodes.size, world.nextEnd <= later]).toEqual([5_000, true])
})
