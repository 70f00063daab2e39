/**
 * The endpoints of `RequestsGroup`: they translate between the wire and the journal of a world, and decide nothing.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Journals } from "../journal/Journals.ts"
import { type JournalEntry, showEntry } from "../journal/JournalEntry.ts"
import { Expectation, verify } from "../journal/verify.ts"
import type { World } from "../world/World.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedWorld, readBody } from "./ControlledWorlds.ts"

const entriesOf = (journals: Journals, world: World): ReadonlyArray<JournalEntry> =>
  journals
    .of(world)
    .entries()
    .map((recorded) => showEntry(world.settings.account, recorded))

const readExpectation = readBody(Expectation)

export const layer = HttpApiBuilder.group(ControlApi, "requests", (handlers) =>
  handlers
    .handle("read", ({ params, query }) =>
      Effect.map(namedWorld(params.world), ({ journals, world }) => {
        const requests = entriesOf(journals, world).filter(
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
          count: journals.of(world).count,
          requests: query.limit === undefined ? requests : requests.slice(-query.limit)
        }
      })
    )
    .handle("forget", ({ params }) =>
      Effect.map(namedWorld(params.world), ({ journals, world }) => journals.of(world).clear())
    )
    .handleRaw("verify", ({ params, request }) =>
      Effect.gen(function* () {
        const expectation = yield* readExpectation(request)
        const { journals, world } = yield* namedWorld(params.world)
        return verify(entriesOf(journals, world), expectation)
      })
    )
)
