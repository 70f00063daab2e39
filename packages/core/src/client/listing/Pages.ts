/**
 * Pulls the pages of a list, one page ahead: while the consumer works on a page, the next page is requested, but no further one.
 * `Listing.ts` interprets the pages.
 */
import { Cause, Effect, Fiber, identity, Pull, type Scope } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node } from "../../domain/Node.ts"
import { defaultMaxNodes, endless, ensureWhole, maxRequestsOf, unreadableList } from "./Bounds.ts"
import type { ListBounds, Listed } from "./Listed.ts"
import * as Listing from "./Listing.ts"
import { isNode, type ListRecord, type Place, placesOf, type UnreadableRecord } from "./NodePage.ts"
import type { Page, PageRange } from "./PageRange.ts"

/** The function that reads pages, and the functions that are called with the pages. */
interface Dependencies extends ListBounds {
  readonly readPage: (range: PageRange) => Effect.Effect<Page, BerthError>
  /** Called with the records of each page that no earlier call had. */
  readonly onRecords: (records: ReadonlyArray<ListRecord>) => void
  /** Called once, with the last page. */
  readonly onEnd: ((listed: Listed) => Effect.Effect<void>) | undefined
  /** Limits the requests of one pull. */
  readonly limited?: <A>(read: Effect.Effect<A, BerthError>) => Effect.Effect<A, BerthError>
}

/** The result of reading ahead. */
interface Step {
  readonly nodes: ReadonlyArray<Node>
  readonly ended: boolean
}

/** At most this many unreadable records are kept. */
const maxSetAside = 1000

/** The nodes, page by page. Nothing is requested before the first pull or after the scope is closed. */
export const pages = ({
  exact = true,
  limited = identity,
  maxNodes = defaultMaxNodes,
  onEnd,
  onRecords,
  readPage
}: Dependencies): Effect.Effect<Pull.Pull<readonly [Node, ...Array<Node>], BerthError>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let progress = Listing.begin(exact)
    let emitted = 0
    let requests = 0
    let longest = 0
    /** The number of nodes that the service stated last. */
    let stated: number | null = null
    /** Whether the service stated the same number with every page. */
    let isSteady = true
    /** Whether the service stated that one page is the whole list. */
    let isOne = false
    const setAside = new Map<number, UnreadableRecord>()
    let ended = false
    let ahead: Fiber.Fiber<Step, BerthError> | undefined

    /** Notes the records that are set aside, and returns the new ones among them: pages overlap, and may be read twice. */
    const newlySetAside = (places: ReadonlyArray<Place>) =>
      places.flatMap(({ id, record }) => {
        if (isNode(record) || setAside.size >= maxSetAside || setAside.has(id)) return []
        setAside.set(id, record)
        return [record]
      })

    /** Reads pages until one has new nodes or the list ends. */
    const readOn = Effect.gen(function* () {
      for (;;) {
        const range = Listing.next(progress)
        const { isMissing, isWhole, records, total } = yield* readPage(range)
        isSteady &&= requests === 0 || isMissing || total === stated
        requests++
        isOne ||= isWhole
        stated = total ?? stated
        longest = Math.max(longest, records.length)
        const places = placesOf(records, records[0]?.id === null ? Listing.idBefore(progress, range) : 0)
        const step = Listing.take(progress, range, places, isWhole, isMissing)
        progress = step.progress
        const nodes = step.nodes.map(({ record }) => record).filter(isNode)
        onRecords([...nodes, ...newlySetAside(places)])
        emitted += nodes.length
        const maxRequests = maxRequestsOf(maxNodes, longest)
        if (emitted > maxNodes || (!step.ended && requests >= maxRequests)) {
          return yield* endless(maxNodes, maxRequests, emitted, requests)
        }
        if (step.ended && emitted === 0 && setAside.size > 0) return yield* unreadableList(setAside.size)
        // If an empty list states a number of nodes, the account is not empty.
        if (step.ended && emitted === 0) yield* ensureWhole(stated, 0)
        if (step.ended || nodes.length > 0) return { nodes, ended: step.ended }
      }
    })

    const read = limited(readOn)

    const listed = (): Listed => {
      const shown = emitted + setAside.size
      // Unreadable records above the limit are not counted, so the number cannot be compared.
      const lacks = setAside.size < maxSetAside && (stated ?? 0) > shown
      // A number above the longest page counts the whole list, not the page. If it stays the same and equals the shown nodes, no node was
      // missed between pages.
      const isCounted = isSteady && stated === shown && (isOne || shown > longest)
      const readToEnd = !lacks && (isCounted || progress.complete)
      const complete = setAside.size > 0 ? false : readToEnd
      return { nodes: emitted, requests, complete, readToEnd, total: stated, unreadable: Array.from(setAside.values()) }
    }

    const pull = Effect.gen(function* () {
      if (ended) return yield* Cause.done()
      const step = yield* ahead === undefined ? read : Fiber.join(ahead)
      ended = step.ended
      if (!ended) ahead = yield* Effect.forkIn(read, scope)
      else if (onEnd) {
        yield* onEnd(listed())
      }
      return isNonEmpty(step.nodes) ? step.nodes : yield* Cause.done()
    })
    return pull
  })

/** All nodes of all pages, once the last page is read. */
export const collect = <E, R>(
  pages: Effect.Effect<Pull.Pull<ReadonlyArray<Node>, E>, never, R>
): Effect.Effect<ReadonlyArray<Node>, E, Exclude<R, Scope.Scope>> =>
  Effect.scoped(
    Effect.flatMap(pages, (pull) => {
      const nodes: Array<Node> = []
      return Pull.catchDone(Effect.forever(Effect.map(pull, (page) => void nodes.push(...page))), () =>
        Effect.succeed(nodes)
      )
    })
  )

const isNonEmpty = <A>(items: ReadonlyArray<A>): items is readonly [A, ...Array<A>] => items.length > 0
