/**
 * The endpoints of `RequestsGroup`: they translate between the wire and the journal of a world, and decide nothing.
 */
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { WorldJournal } from "../journal/Journals.ts"
import { invalidFields } from "../http/failures.ts"
import { toHar } from "../journal/har.ts"
import { type JournalEntry, showEntry } from "../journal/JournalEntry.ts"
import { pageOf } from "../journal/page.ts"
import { Expectation } from "../journal/ExpectedCall.ts"
import { verify } from "../journal/verify.ts"
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds, namedJournal, namedWorld, readBody } from "./ControlledWorlds.ts"
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
      Effect.flatMap(namedJournal(params.world), (journal) => {
        const { count } = journal.journal
        if (query.after !== undefined && query.after > count) {
          return Effect.fail(invalidFields({ after: [`The journal ends with ${count}: a reset begins it anew.`] }))
        }
        return Effect.succeed({
          world: journal.id,
          seed: journal.seed,
          ...endOf(journal),
          count,
          ...pageOf(journal, query)
        })
      })
    )
    .handle("listEnded", () =>
      Effect.map(ControlledWorlds, ({ journals }) =>
        journals.allEnded().map(({ ended: { at, reason }, id, journal: { count }, seed }) => {
          return { id, seed, ended: { at: instant(at), reason }, count }
        })
      )
    )
    .handle("har", ({ params, request }) =>
      Effect.map(namedJournal(params.world), (journal) => {
        const origin = Option.match(HttpServerRequest.toURL(request), {
          onNone: () => "http://localhost",
          onSome: (url) => url.origin
        })
        return HttpServerResponse.jsonUnsafe(toHar(journal, origin), {
          headers: { "content-disposition": `attachment; filename="${journal.id}.har"` }
        })
      })
    )
    .handle("forget", ({ params }) =>
      Effect.map(namedWorld(params.world), ({ journals, world }) => journals.forget(world))
    )
    .handleRaw("verify", ({ params, request }) =>
      Effect.gen(function* () {
        const expectation = yield* readExpectation(request)
        const journal = yield* namedJournal(params.world)
        return yield* verify(entriesOf(journal), expectation, journal.journal.dropped)
      })
    )
)
