/** The endpoints of `WorldsGroup`: they translate between the wire and the worlds of the server, and contain no rules. */
import { fail, type Failure } from "@berthkit/core/api/Envelope"
import { Duration, Effect, Redacted } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { invalidFields } from "../http/failures.ts"
import { nodeProblems } from "../world/givenNodes.ts"
import { begin, startSize } from "../world/scenario.ts"
import { slidingLimitSentence } from "../world/allowance.ts"
import { restore, Snapshot, takeSnapshot } from "../state/Snapshot.ts"
import { strictReader } from "@berthkit/core/api/readFields"
import { maxSnapshotValues, readStrictJson } from "../transport/readJson.ts"
import { maxSnapshotBytes } from "../transport/limits.ts"
import * as VirtualClock from "../lifecycle/VirtualClock.ts"
import * as World from "../world/World.ts"
import { rateLimitOf, settingsOf, WorldOptions } from "../world/WorldOptions.ts"
import { defaults, type Scenario, type WorldSettings } from "../world/WorldSettings.ts"
import type { AddRefusal, RemoveRefusal, Worlds } from "../world/Worlds.ts"
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds, endWorld, namedWorld, readBody, tooManyNodes, worldUnknown } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"
import { WorldSummary, WorldUpdate } from "./WorldsGroup.ts"

const notAdded = (refusal: AddRefusal, { scenario }: WorldSettings): Failure<409> => {
  switch (refusal._tag) {
    case "CredentialTaken":
      return fail(409, "Another world has this credential.", { [refusal.field]: ["Another world has this one."] })
    case "TooManyWorlds":
      return fail(409, `The server has its maximum of ${refusal.limit} worlds: delete some.`)
    case "TooManyNodes":
      return tooManyNodes(refusal, fieldOfNodes(scenario))
  }
}

/** The field of a request that asks for most of the world's nodes. */
const fieldOfNodes = (scenario: Scenario): string => (typeof scenario === "string" ? "nodes" : "scenario")

const notRemoved = (worlds: Worlds, refusal: RemoveRefusal): Failure<404> | Failure<409> =>
  refusal._tag === "WorldUnknown"
    ? worldUnknown(worlds, refusal.id)
    : fail(409, `The world ${refusal.id} cannot be deleted, only reset.`)

/** Fails if a world cannot have this many nodes in place of its present ones. */
const checkRoom = (worlds: Worlds, world: World.World, nodes: number, field: string) => {
  const tooMany = worlds.tooManyWith(nodes - world.nodes.size)
  return tooMany === undefined ? Effect.void : Effect.fail(tooManyNodes(tooMany, field))
}

const redacted = (secret: string | undefined) => (secret === undefined ? undefined : Redacted.make(secret))

const summary = (world: World.World, now: number): typeof WorldSummary.Type => {
  const { limit, remaining, resetAt } = world.allowance.peek(now)
  const { algorithm, windowMillis } = world.allowance.rateLimit
  return {
    id: world.id,
    seed: world.settings.seed,
    clock: VirtualClock.modeOf(world.clock),
    now: instant(now),
    nodes: world.nodes.size,
    savedImages: world.savedImages.length,
    allowance: { algorithm, limit, window: Duration.millis(windowMillis), remaining, resetAt: instant(resetAt) }
  }
}

const readUpdate = readBody(WorldUpdate)

const readOptions = readBody(WorldOptions, {})

const readSnapshot = strictReader(Snapshot)

export const layer = HttpApiBuilder.group(ControlApi, "worlds", (handlers) =>
  handlers
    .handleRaw("make", ({ request }) =>
      Effect.gen(function* () {
        const options = yield* readOptions(request)
        const { realMillis, worlds } = yield* ControlledWorlds
        const settings = settingsOf(options, defaults.account, worlds.base)
        const problems = nodeProblems(
          settings,
          VirtualClock.make(settings.clock, realMillis(), settings.startAt).anchorMillis
        )
        if (Object.keys(problems).length > 0) return yield* Effect.fail(invalidFields(problems))
        const asked = { apiKey: redacted(options.apiKey), accessToken: redacted(options.accessToken) }
        // Check before the world is made, because making it may take seconds.
        const refusal = worlds.refusalOf(asked) ?? worlds.tooManyWith(startSize(settings))
        if (refusal !== undefined) return yield* Effect.fail(notAdded(refusal, settings))
        const made = worlds.add(asked, (id, account) => begin({ ...settings, account }, realMillis(), id))
        const world = yield* Effect.mapError(Effect.fromResult(made), (refusal) => notAdded(refusal, settings))
        worlds.letEnd(world, realMillis())
        return {
          id: world.id,
          apiKey: Redacted.value(world.settings.account.apiKey),
          accessToken: Redacted.value(world.settings.account.accessToken)
        }
      })
    )
    .handle("list", () =>
      Effect.map(ControlledWorlds, ({ realMillis, worlds }) =>
        worlds.list().map((world) => summary(world, World.enter(world, realMillis())))
      )
    )
    .handle("get", ({ params }) => Effect.map(namedWorld(params.world), ({ now, world }) => summary(world, now)))
    .handleRaw("update", ({ params, request }) =>
      Effect.gen(function* () {
        const { rateLimit } = yield* readUpdate(request)
        const { now, world } = yield* namedWorld(params.world)
        if (rateLimit !== undefined && World.changeRateLimit(world, rateLimitOf(rateLimit), now) === undefined)
          return yield* Effect.fail(invalidFields({ rateLimit: [`${slidingLimitSentence}.`] }))
        return summary(world, now)
      })
    )
    .handle("delete", ({ params }) =>
      Effect.flatMap(ControlledWorlds, (controlled) =>
        Effect.mapError(Effect.fromResult(endWorld(controlled, params.world, "deleted")), (refusal) =>
          notRemoved(controlled.worlds, refusal)
        )
      )
    )
    .handle("reset", ({ params, request }) =>
      Effect.gen(function* () {
        const { journals, realMillis, world, worlds } = yield* namedWorld(params.world)
        const { settings } = world
        yield* checkRoom(worlds, world, startSize(settings), fieldOfNodes(settings.scenario))
        worlds.replace(world, begin(settings, realMillis(), world.id))
        journals.changed(world, "reset", request)
        return summary(world, world.latest)
      })
    )
    .handle("snapshot", ({ params }) =>
      // A finished response, because the schema would process every node once more.
      Effect.map(namedWorld(params.world), ({ world }) => HttpServerResponse.jsonUnsafe(takeSnapshot(world)))
    )
    .handleRaw("restore", ({ params, request }) =>
      Effect.gen(function* () {
        yield* namedWorld(params.world)
        const body = yield* readStrictJson(request, { maxBytes: maxSnapshotBytes, maxValues: maxSnapshotValues })
        // The world may have been deleted while the body arrived.
        const { journals, realMillis, world, worlds } = yield* namedWorld(params.world)
        const snapshot = yield* Effect.mapError(Effect.fromResult(readSnapshot(body)), invalidFields)
        yield* checkRoom(worlds, world, snapshot.nodes.length, "nodes")
        const { account, catalogue } = world.settings
        const made = restore(snapshot, account, world.id, "where-it-stood", realMillis(), catalogue)
        const restored = yield* Effect.mapError(Effect.fromResult(made), invalidFields)
        const reply = summary(restored, World.enter(restored, realMillis()))
        worlds.replace(world, restored)
        journals.changed(world, "restored", request)
        return reply
      })
    )
)
