/**
 * The endpoints of `RequestsGroup`: they translate between the wire and the journal of a world, and decide nothing.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { WorldJournal } from "../journal/Journals.ts"
import { type JournalEntry, showEntry } from "../journal/JournalEntry.ts"
import { Expectation, verify } from "../journal/verify.ts"
import { ControlApi } from "./ControlApi.ts"
import { namedJournal, namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"

const entriesOf = ({ account, journal }: WorldJournal): ReadonlyArray<JournalEntry> =>
  journal.entries().map((recorded) => showEntry(account, recorded))

/** The end of a world, where it has ended. */
const endOf = ({ ended }: WorldJournal) =>
  ended === undefined ? {} : { ended: { at: instant(ended.at), reason: ended.reason } }

const readExpectation = readBody(Expectation)

export const layer = HttpApiBuilder.group(ControlApi, "requests", (handlers) =>
  handlers
    .handle("read", ({ params, query }) =>
      Effect.map(namedJournal(params.world), (journal) => {
        const requests = entriesOf(journal).filter(
          ({ faults, method, operation, seq, status }) =>
            (query.operation === undefined || operation === query.operation) &&
            (query.method === undefined || method === query.method.toUpperCase()) &&
            (query.status === undefined || status === query.status) &&
            (query.fault === undefined || faults.includes(query.fault)) &&
            (query.after === undefined || seq > query.after)
        )
        return {
          world: journal.id,
          seed: journal.seed,
          ...endOf(journal),
          count: journal.journal.count,
          requests: query.limit === undefined ? requests : requests.slice(-query.limit)
        }
      })
    )
    .handle("forget", ({ params }) =>
      Effect.map(namedWorld(params.world), ({ journals, world }) => journals.forget(world))
    )
    .handleRaw("verify", ({ params, request }) =>
      Effect.gen(function* () {
        const expectation = yield* readExpectation(request)
        return verify(entriesOf(yield* namedJournal(params.world)), expectation)
      })
    )
)
