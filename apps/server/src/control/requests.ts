/**
 * Answers for `RequestsGroup`: it translates between the wire and the journal of a world, and decides nothing.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type JournalEntry, showEntry } from "../journal/JournalEntry.ts"
import { Expectation, verify } from "../journal/verify.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld } from "./ControlledWorlds.ts"
import { readBody } from "./readBody.ts"

const entriesOf = (world: World): ReadonlyArray<JournalEntry> =>
  world.journal.entries().map((recorded) => showEntry(world.settings.account, recorded))

const readExpectation = readBody(Expectation)

export const layer = HttpApiBuilder.group(ControlApi, "requests", (handlers) =>
  handlers
    .handle("read", ({ params, query }) =>
      Effect.map(namedWorld(params.world), ({ world }) => {
        const requests = entriesOf(world).filter(
          ({ faults, method, operation, seq, status }) =>
            (query.operation === undefined || operation === query.operation) &&
            (query.method === undefined || method === query.method.toUpperCase()) &&
            (query.status === undefined || status === query.status) &&
            (query.fault === undefined || faults.includes(query.fault)) &&
            (query.after === undefined || seq > query.after)
        )
        return {
          world: world.id,
          seed: world.settings.seed,
          count: world.journal.count,
          requests: query.limit === undefined ? requests : requests.slice(-query.limit)
        }
      })
    )
    .handle("forget", ({ params }) => Effect.map(namedWorld(params.world), ({ world }) => world.journal.clear()))
    .handleRaw("verify", ({ params, request }) =>
      Effect.gen(function* () {
        const expectation = yield* readExpectation(request)
        const { world } = yield* namedWorld(params.world)
        return verify(entriesOf(world), expectation)
      })
    )
)
