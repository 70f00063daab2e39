/** The endpoints of `RequestsGroup`: they translate between the wire and the journal of a world, and contain no rules. */
import { Effect, Option } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { WorldJournal } from "../journal/Journals.ts"
import { invalidFields } from "../http/failures.ts"
import { harOf } from "../journal/har.ts"
import { showEntry } from "../journal/JournalEntry.ts"
import { pageOf } from "../journal/page.ts"
import { Expectation } from "../journal/ExpectedCall.ts"
import { verify } from "../journal/verify.ts"
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds, namedJournal, namedWorld, readBody } from "./ControlledWorlds.ts"
import { instant } from "./fields.ts"

/** The end of a world, if it has ended. */
const endOf = ({ ended }: WorldJournal) =>
  ended === undefined ? {} : { ended: { at: instant(ended.at), reason: ended.reason } }

const readExpectation = readBody(Expectation)

export const layer = HttpApiBuilder.group(ControlApi, "requests", (handlers) =>
  handlers
    .handle("read", ({ params, query }) =>
      Effect.flatMap(namedJournal(params.world), (named) => {
        const { account, id, journal, seed } = named
        const { count } = journal
        if (query.after !== undefined && query.after > count) {
          return Effect.fail(
            invalidFields({
              after: [`The journal ends with ${count}: the number comes from another run of the server.`]
            })
          )
        }
        const { requests, ...rest } = pageOf(journal, query)
        const shown = requests.map((recorded) => showEntry(account, recorded))
        return Effect.succeed({ world: id, seed, ...endOf(named), count, requests: shown, ...rest })
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
        return HttpServerResponse.jsonUnsafe(harOf(journal, origin), {
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
        const { account, journal } = yield* namedJournal(params.world)
        // A lazy list: each entry is made when `verify` compares it.
        const entries = journal
          .entries()
          .values()
          .map((recorded) => showEntry(account, recorded))
        return yield* Effect.mapError(verify(entries, expectation, journal.dropped), (sentence) =>
          invalidFields({ expected: [sentence] })
        )
      })
    )
)
