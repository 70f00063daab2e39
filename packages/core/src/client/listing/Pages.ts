/**
 * The pages of a list, pulled with one ahead: while the consumer works on a page the next one is requested, and none after
 * that. `Listing.ts` interprets the pages.
 */
import { Cause, Effect, Fiber, identity, Pull, type Scope } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Node } from "../../domain/Node.ts"
import { defaultMaxNodes, endless, ensureWhole, maxRequestsOf, unreadableList } from "./Bounds.ts"
import type { ListBounds, Listed } from "./Listed.ts"
import * as Listing from "./Listing.ts"
import { isNode, type ListRecord, placesOf, type UnreadableRecord } from "./NodePage.ts"
import * as PageMemory from "./PageMemory.ts"
import type { PageStore } from "./PageStore.ts"
import type { Page, PageRange } from "./PageRange.ts"

/** How pages are read, and what is called with them. */
interface Dependencies extends ListBounds {
  readonly readPage: (range: PageRange) => Effect.Effect<Page, BerthError>
  /** Called with what each page has that was not given before. */
  readonly onRecords: (records: ReadonlyArray<ListRecord>) => void
  /** Called once, with the last page. */
  readonly onEnd: ((listed: Listed) => Effect.Effect<void>) | undefined
  /** Limits the requests of one pull. */
  readonly limited?: <A>(read: Effect.Effect<A, BerthError>) => Effect.Effect<A, BerthError>
  readonly store: PageStore
}

/** What was read ahead. */
interface Step {
  readonly nodes: ReadonlyArray<Node>
  readonly ended: boolean
}

/** Of more records that cannot be read the first are kept. */
const maxSetAside = 1000

/** The nodes of one page after the other. Nothing is requested before the first pull, or after the scope is closed. */
export const pages = ({
  exact = true,
  limited = identity,
  maxNodes = defaultMaxNodes,
  onEnd,
  onRecords,
  readPage,
  store
}: Dependencies): Effect.Effect<Pull.Pull<readonly [Node, ...Array<Node>], BerthError>, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => {
    let progress = Listing.begin(exact)
    const { perPage } = Listing.next(progress)
    let emitted = 0
    let requests = 0
    let longest = 0
    /** How many nodes there are, as the service said last. */
    let stated = 0
    const setAside = new Map<string, UnreadableRecord>()
    let memory: PageMemory.PageMemory = {}
    /** What earlier lists showed, where this one relies on it instead of requesting a second page. */
    let reliedOn: Listed["complete"] | undefined
    let ended = false
    let ahead: Fiber.Fiber<Step, BerthError> | undefined

    const save = (record: PageMemory.PageRecord) => store.save({ ...memory, [perPage]: record })

    /** Whether earlier lists showed that a first page of this length is the only one. A list that cannot be counted checks. */
    const isKnownOnly = (length: number) => {
      const record = memory[perPage]
      const judgement = length < perPage && PageMemory.judge(record, length)
      if (!judgement || (exact && judgement !== true)) return Effect.succeed(false)
      return Effect.map(save(PageMemory.relied(record!)), (saved) => {
        if (saved) reliedOn = judgement
        return saved
      })
    }

    /** Saves what this list showed, before it ends, because the process may end with it. */
    const saveEvidence = Effect.suspend(() => {
      const before = memory[perPage]
      const record = PageMemory.learned(before, Listing.evidence(progress))
      return record && JSON.stringify(record) !== JSON.stringify(before) ? save(record) : Effect.void
    })

    /** Notes the records that are set aside, and returns those that were not before: pages overlap. */
    const newlySetAside = (records: ReadonlyArray<ListRecord>) =>
      records.flatMap((record) => {
        if (isNode(record) || setAside.size >= maxSetAside) return []
        const key = JSON.stringify(record)
        if (setAside.has(key)) return []
        setAside.set(key, record)
        return [record]
      })

    /** Reads on until there are nodes, or the list has ended. */
    const readOn = Effect.gen(function* () {
      for (;;) {
        const range = Listing.next(progress)
        const { isWhole, records, total } = yield* readPage(range)
        const isFirst = requests++ === 0
        stated = total ?? stated
        if (isFirst) memory = yield* store.load
        longest = Math.max(longest, records.length)
        const isOnly = isWhole || (isFirst && (total ?? 0) <= records.length && (yield* isKnownOnly(records.length)))
        const places = placesOf(records, records[0]?.id === null ? Listing.idBefore(progress, range) : 0)
        const step = Listing.take(progress, range, places, isOnly)
        progress = step.progress
        const nodes = step.nodes.map(({ record }) => record).filter(isNode)
        onRecords([...nodes, ...newlySetAside(records)])
        emitted += nodes.length
        const maxRequests = maxRequestsOf(maxNodes, longest)
        if (emitted > maxNodes || (!step.ended && requests >= maxRequests)) {
          return yield* endless(maxNodes, maxRequests, emitted, requests)
        }
        if (step.ended && emitted === 0 && setAside.size > 0) return yield* unreadableList(setAside.size)
        // Beyond so many records that cannot be read none is counted.
        if (step.ended && setAside.size < maxSetAside) yield* ensureWhole(stated, emitted + setAside.size)
        if (step.ended && !reliedOn) yield* saveEvidence
        if (step.ended || nodes.length > 0) return { nodes, ended: step.ended }
      }
    })

    const read = limited(readOn)

    const listed = (): Listed => {
      const readToEnd = reliedOn ?? progress.complete
      const complete = setAside.size > 0 ? false : readToEnd
      return { nodes: emitted, requests, complete, readToEnd, unreadable: Array.from(setAside.values()) }
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

/** All nodes of the pages, once the last one is read. */
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
