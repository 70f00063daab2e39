/** A running poller for tests, with its events so far. It has no store, so hours pass in a moment. */
import { Deferred, Effect, Fiber } from "effect"
import { Images } from "@berthkit/core/client/Images"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import type { WatchedAccount } from "@berthkit/watch/account/WatchedAccount"
import type { EntryFact } from "@berthkit/watch/diff/CatalogueFact"
import { type CatalogueRead, unread } from "@berthkit/watch/diff/catalogue/Catalogue"
import { diffCatalogue, noEvidence } from "@berthkit/watch/diff/catalogue/diffCatalogue"
import { diff } from "@berthkit/watch/diff/diff"
import type { SweepCompleted } from "@berthkit/watch/diff/Observation"
import { defaultRules, makeSnapshot, unwatched } from "@berthkit/watch/diff/Snapshot"
import { type Event, toEvent } from "@berthkit/watch/events/Event"
import { readCatalogues } from "@berthkit/watch/observe/CatalogueReader"
import { makeMoments } from "@berthkit/watch/observe/Moments"
import { makePoller, type PollerOptions } from "@berthkit/watch/observe/Poller"
import { hourly } from "@berthkit/watch/observe/RequestShare"

/** The smallest plan, with an image that fits. */
export const cheapest = Effect.gen(function* () {
  const [plan] = yield* (yield* Plans).list()
  return { plan: plan!.slugs[0]!.slug, image: plan!.slugs[0]!.image }
})

export const create = Effect.fnUntraced(function* (name: string) {
  const { node } = yield* (yield* Nodes).create({ name, ...(yield* cheapest) })
  return node.id
})

export const polling = Effect.fnUntraced(function* (options: Partial<PollerOptions> = {}) {
  const nodes = yield* Nodes
  const events: Array<Event> = []
  const sweeps: Array<SweepCompleted> = []
  const rules = options.rules ?? defaultRules
  const moments = yield* makeMoments
  const { apply, snapshot } = makeSnapshot(unwatched, { fingerprint: null, begun: yield* moments.now })
  const watch: WatchedAccount = {
    snapshot,
    observe: (observation, rules) =>
      Effect.sync(() => {
        if (observation._tag === "SweepCompleted") sweeps.push(observation)
        const difference = diff(snapshot, observation, rules)
        apply(difference)
        for (const fact of difference.facts) events.push(toEvent(fact, "acme", events.length + 1))
        return difference.facts
      })
  }
  const poller = yield* makePoller({
    nodes,
    moments,
    watch,
    rules,
    intervalMillis: 30_000,
    fastIntervalMillis: 1000,
    budget: Effect.succeed(hourly(720)),
    areCredentialsNew: false,
    ...options
  })
  const fiber = yield* Effect.forkChild(poller.run)
  const ready = yield* Deferred.make<void>()
  yield* Effect.forkChild(Effect.andThen(poller.ready, Deferred.succeed(ready, undefined)))
  return {
    events,
    /** Also reads the catalogue, and returns the reports as they come. */
    readCatalogue: Effect.gen(function* () {
      const facts: Array<EntryFact> = []
      let catalogue = unread
      let evidence = noEvidence
      const observe = (read: CatalogueRead) =>
        Effect.sync(() => {
          const difference = diffCatalogue(catalogue, evidence, read, () => [])
          catalogue = difference.catalogue
          evidence = difference.evidence
          facts.push(...difference.facts)
          return difference.facts
        })
      const watch = { known: () => catalogue, evidence: () => evidence, observe }
      yield* Effect.forkChild(readCatalogues({ ...poller, images: yield* Images, snapshot, watch }))
      return facts
    }),
    /** The sweeps that were read to the end of the list. */
    sweeps,
    /** The events in short form: the type, and the status or statuses. */
    published: () => events.map(brief),
    ended: Fiber.await(fiber),
    isReady: Deferred.isDone(ready)
  }
})

const brief = ({ data, type }: Event): string => {
  const name = type.slice(type.lastIndexOf(".") + 1)
  if ("sink" in data) return `${name}: ${data.sink}`
  if ("from" in data) return `${data.from} to ${data.to}`
  if ("count" in data) return `${name} of ${data.count}`
  if ("ending" in data) return `${name}: ${data.trouble}, ${data.ending}`
  if ("trouble" in data) return `${name}: ${data.trouble}`
  const node = ("after" in data ? data.after : null) ?? ("before" in data ? data.before : null)
  return node !== null && "status" in node ? `${name} as ${node.status}` : name
}
