/**
 * The implementation of `Daemon`: nodes and events come from the store, the state of sinks from their delivery, and the state
 * of polling from `Progress`. If the store fails, the request fails with a defect that `app.ts` turns into a reply.
 */
import { Clock, DateTime, Effect, Layer, Option, Struct } from "effect"
import { beginning, cursorProblem, formatCursor, parseCursor } from "../events/Cursor.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { readCatalogue } from "../diff/catalogue/Catalogue.ts"
import { type Attempt, type KeptBecause, makeAttempt, Sinks } from "../deliver/Sinks.ts"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import type { DeadLetterPlace } from "../store/deliveries.ts"
import type { EventFilter, LoggedEvent as LoggedRow } from "../store/events.ts"
import { SharedStore } from "../store/peers.ts"
import { waitUntil } from "../store/Signal.ts"
import type { PresentNode } from "../store/present.ts"
import { Store } from "../store/Store.ts"
import { cachedFor } from "../telemetry/cachedFor.ts"
import { type AccountProgress, Progress } from "../telemetry/Progress.ts"
import type { Trouble } from "../troubles/table.ts"
import { Troubles } from "../troubles/Troubles.ts"
import { Daemon, type NodeQuery, Refused } from "./Daemon.ts"
import { costsOf } from "./costs.ts"
import { makeSilenceOperations } from "./silences.ts"
import type { AccountStatus, DeliveredEvent, LoggedEvent, ProcessStatus, Trouble as TroubleRecord } from "./records.ts"
import { toPast, toWatched } from "./storedNode.ts"
import { testReceiver } from "./testReceiver.ts"

/** Maximum age of the numbers of nodes. */
const countsAgeMillis = 5000

/** Maximum age of the costs in a scrape. They are cached because each account needs a month of rows. */
const costsAgeMillis = 60_000

/** Maximum age of the list of other processes. */
const processesAgeMillis = 1000

/** The kind of a sink, in a word or two. */
const kindOf = ({ target }: SinkOptions): string => {
  const kind = target._tag.toLowerCase()
  if (target._tag !== "Webhook" && target._tag !== "Mail") return kind
  const format = "format" in target && target.format !== "cloudevents" ? target.format : null
  const shown = target.template === null ? format : "template"
  return shown === null ? kind : `${kind} (${shown})`
}

const instantOf = (millis: number | null): DateTime.Utc | null => (millis === null ? null : DateTime.makeUnsafe(millis))

const toStatus = (account: string, progress: AccountProgress, nodes: number): AccountStatus => {
  const { allowance, lastSweep, owner } = progress
  return {
    account,
    state: progress.state,
    nodes,
    lastSweep: lastSweep && { ...lastSweep, endedAt: DateTime.makeUnsafe(lastSweep.endedMillis) },
    unreadable: progress.unreadable,
    nextSweepAt: instantOf(progress.nextSweepMillis),
    requestsPerHour: progress.requestsPerHour,
    sweepIntervalMillis: progress.intervalMillis,
    detectionLatencyMillis: progress.latencyMillis,
    allowance: allowance && { ...allowance, resetAt: instantOf(allowance.resetMillis) },
    ...(progress.stretchedMillis === null ? {} : { sweepIntervalSetMillis: progress.stretchedMillis }),
    ...(progress.isAdded ? { added: true } : {}),
    ...(owner && { owner: { ...owner, since: DateTime.makeUnsafe(owner.sinceMillis) } })
  }
}

/** Parses a position in the nodes of all accounts, as pages name it: `account/id`. */
const readPlace = (
  text: string | undefined
): Effect.Effect<{ readonly account: string; readonly id: number }, Refused> => {
  if (text === undefined) return Effect.succeed({ account: "", id: 0 })
  const found = /^([^/]{1,64})\/(\d{1,15})$/.exec(text)
  return found === null
    ? Effect.fail(new Refused({ kind: "invalid", message: "after is not a position in the list of nodes." }))
    : Effect.succeed({ account: found[1]!, id: Number(found[2]) })
}

/** Parses a position in the dead letters of a sink, as pages name it: `millis/id`. */
const readDeadLetterPlace = (text: string | undefined): Effect.Effect<DeadLetterPlace | undefined, Refused> => {
  if (text === undefined) return Effect.undefined
  const found = /^(\d{1,15})\/(.{1,200})$/.exec(text)
  return found === null
    ? Effect.fail(new Refused({ kind: "invalid", message: "after is not a position in the list of dead letters." }))
    : Effect.succeed({ diedAtMillis: Number(found[1]), id: found[2]! })
}

const placeOf = ({ account, id }: { readonly account: string; readonly id: number }): string => `${account}/${id}`

const logged = ({ body, position }: LoggedRow): LoggedEvent => ({
  cursor: formatCursor(position),
  event: JSON.parse(body) as DeliveredEvent
})

const toRecord = ({ sinceMillis, ...trouble }: Trouble): TroubleRecord => ({
  ...trouble,
  since: DateTime.makeUnsafe(sinceMillis)
})

const keptSentences: Readonly<Record<KeptBecause, (sink: string) => string>> = {
  configured: (sink) => `The sink ${sink} is in the config: remove it there first.`,
  unknownConfig: (sink) => `It is unknown whether the config has ${sink}: add --config FILE.`
}

const make = Effect.fnUntraced(function* (options: ReadonlyArray<SinkOptions>) {
  const kinds = new Map(options.map((each) => [each.name, kindOf(each)]))
  const attempts = new Map<string, Attempt | null>()
  for (const each of options) attempts.set(each.name, yield* makeAttempt(each))
  const sinks = yield* Sinks
  const store = yield* Store
  const progress = yield* Progress
  const troubles = yield* Troubles

  // The counts are cached because they read every row, and every open page asks for them every few seconds.
  const counts = yield* cachedFor(Effect.orDie(store.nodeCounts), countsAgeMillis)

  /** Fails if the text is not a cursor of this store, or if events after the cursor are no longer kept. */
  const readCursor = Effect.fnUntraced(function* (text: string) {
    const cursor = Option.getOrUndefined(parseCursor(text))
    if (cursor === undefined) return yield* new Refused({ kind: "invalid", message: cursorProblem(text) })
    const { end, removed } = yield* Effect.orDie(store.log)
    if (cursor > end) return yield* new Refused({ kind: "invalid", message: "This cursor belongs to another store." })
    if (cursor > beginning && cursor < removed)
      return yield* new Refused({ kind: "gone", message: "Events after this cursor are no longer kept." })
    return cursor
  })

  const knownAccount = Effect.fnUntraced(function* (account: string | undefined) {
    if (account === undefined || account === daemonAccount) return
    const heads = yield* Effect.orDie(store.heads)
    const isKnown = heads.some((head) => head.account === account) || (yield* progress.accounts).has(account)
    if (!isKnown) return yield* new Refused({ kind: "unknown", message: `There is no account ${account}.` })
  })

  /** The accounts that the daemon watches. The store also keeps accounts that are no longer watched. */
  const watched = Effect.map(progress.accounts, (all) => Array.from(all.keys()).toSorted())

  const readCosts = Effect.gen(function* () {
    const own = Array.from(yield* progress.accounts).filter(([, { owner }]) => owner?.isHere !== false)
    return yield* costsOf(store, new Set(own.map(([name]) => name)), {}, yield* Clock.currentTimeMillis)
  })
  const monthCosts = yield* cachedFor(Effect.orDie(readCosts), costsAgeMillis)

  const end = Effect.map(Effect.orDie(store.log), (log) => log.end)

  const nodesNow = Effect.fnUntraced(function* ({ account, after, limit }: NodeQuery) {
    const place = yield* readPlace(after)
    // Read the cursor before the nodes. A change in between is then both in the nodes and after the cursor, which does no harm.
    const cursor = formatCursor(yield* end)
    const rows: Array<PresentNode> = []
    for (const name of account === undefined ? yield* watched : [account]) {
      if (name < place.account || rows.length > limit) continue
      const from = name === place.account ? place.id : 0
      rows.push(...(yield* Effect.orDie(store.presentNodes(name, from, limit + 1 - rows.length))))
    }
    const page = rows.slice(0, limit)
    return {
      nodes: page.map((row) => toWatched(row.account, row.body)),
      next: rows.length > limit ? placeOf(page.at(-1)!) : null,
      cursor
    }
  })

  const nodesThen = Effect.fnUntraced(function* ({ account, after, limit }: NodeQuery, at: DateTime.Utc) {
    const place = yield* readPlace(after)
    const millis = DateTime.toEpochMillis(at)
    const heads = yield* Effect.orDie(store.heads)
    const accounts = heads.filter((head) => account === undefined || head.account === account)
    for (const head of accounts) {
      const oldest = yield* Effect.orDie(store.oldest(head.account))
      if (head.account !== daemonAccount && oldest !== null && millis < oldest) {
        const first = DateTime.formatIso(DateTime.makeUnsafe(oldest))
        return yield* new Refused({ kind: "gone", message: `Events of ${head.account} are kept from ${first} on.` })
      }
    }
    const cursor = formatCursor(yield* end)
    const past = yield* Effect.orDie(Effect.forEach(accounts, (head) => store.nodesAt(millis, head.account)))
    const rest = past
      .flat()
      .filter((node) => node.account > place.account || (node.account === place.account && node.id > place.id))
    const page = rest.slice(0, limit)
    return {
      nodes: page.map((node) => toPast(node.account, node.record)),
      next: rest.length > limit ? placeOf(page.at(-1)!) : null,
      cursor
    }
  })

  const { addSilence, endSilence, hasSilence, silences } = makeSilenceOperations(
    store,
    Effect.gen(function* () {
      const heads = yield* Effect.orDie(store.heads)
      const accounts = new Set([...(yield* watched), ...heads.map(({ account }) => account)])
      const rows = yield* Effect.orDie(store.sinks)
      return {
        accounts: Array.from(accounts).filter((account) => !account.startsWith("_")),
        sinks: Array.from(new Set([...kinds.keys(), ...rows.map(({ name }) => name)]))
      }
    })
  )

  const knownSilence = Effect.fnUntraced(function* (id: string | undefined) {
    if (id === undefined || (yield* hasSilence(id))) return
    return yield* new Refused({ kind: "unknown", message: `There is no silence ${id}.` })
  })

  const eventsAfter = Effect.fnUntraced(function* (text: string, limit: number, filter: EventFilter) {
    const cursor = yield* readCursor(text)
    // Read the end of the log before the events. If fewer events match than requested, everything up to this end was searched.
    const searched = yield* end
    const read = yield* Effect.orDie(store.after(cursor, limit + 1, filter))
    const events = read.slice(0, limit).map(logged)
    if (read.length > limit) return { events, next: events.at(-1)!.cursor, more: true }
    return { events, next: formatCursor(Math.max(searched, read.at(-1)?.position ?? beginning)), more: false }
  })

  const lastEvents = Effect.fnUntraced(function* (limit: number, filter: EventFilter) {
    const searched = yield* end
    const read = yield* Effect.orDie(store.latest(limit, filter))
    const next = formatCursor(Math.max(searched, read.at(-1)?.position ?? beginning))
    return { events: read.map(logged), next, more: false }
  })

  const eventAfter = Effect.fnUntraced(function* (text: string) {
    const cursor = Option.getOrElse(parseCursor(text), () => beginning)
    yield* waitUntil(
      store.newEvents,
      Effect.map(end, (last) => last > cursor)
    )
  })

  const knownSink = Effect.fnUntraced(function* (name: string) {
    const found = (yield* Effect.orDie(sinks.status)).find((sink) => sink.name === name)
    return found ?? (yield* new Refused({ kind: "unknown", message: `There is no sink ${name}.` }))
  })

  const accounts = Effect.gen(function* () {
    const known = yield* counts
    const nodesOf = (name: string) =>
      known.reduce((sum, { account, count }) => (account === name ? sum + count : sum), 0)
    return Array.from(yield* progress.accounts, ([account, each]) => toStatus(account, each, nodesOf(account)))
  })

  const shared = Option.getOrNull(yield* Effect.serviceOption(SharedStore))
  const heard = yield* cachedFor(
    shared === null ? Effect.succeed([]) : Effect.orDie(shared.processes),
    processesAgeMillis
  )
  const processes = Effect.gen(function* () {
    if (shared === null) return []
    const alive = yield* heard
    const owners = Array.from((yield* progress.accounts).values(), ({ owner }) => owner?.process)
    // Include processes that have gone silent, because they own their accounts until others take these over.
    const names = new Set([...alive, ...owners.filter((owner) => owner !== undefined)])
    return Array.from(names)
      .toSorted()
      .map((process): ProcessStatus => ({
        process,
        accounts: owners.filter((owner) => owner === process).length,
        isHeard: alive.includes(process),
        isHere: process === shared.self
      }))
  })

  return Daemon.of({
    accounts,
    processes,
    troubles: Effect.map(Effect.orDie(troubles.current), (all) => all.map(toRecord)),
    nodes: (query) =>
      Effect.andThen(
        knownAccount(query.account),
        query.at === undefined ? nodesNow(query) : nodesThen(query, query.at)
      ),
    nodeCounts: Effect.gen(function* () {
      const names = new Set(yield* watched)
      return (yield* counts).filter(({ account }) => names.has(account))
    }),
    storeBytes: Effect.orDie(store.storeBytes),
    plans: Effect.map(Effect.orDie(store.catalogues), (kept) =>
      kept.flatMap(({ account, body }) => {
        const { foreignPrices = [], names = [], plans } = readCatalogue(body)
        const foreign = new Map(foreignPrices.map(({ plan, ...price }) => [plan, price]))
        const slugs = Map.groupBy(names, ({ sku }) => sku)
        return plans.map(({ item }) => ({
          account,
          ...Struct.omit(item, ["vcpus", "memoryMib", "diskGb", "series"]),
          slugs: slugs.get(item.plan)?.map(({ image, plan }) => ({ image, slug: plan })) ?? [],
          foreignPrice: foreign.get(item.plan) ?? null
        }))
      })
    ),
    costs: (query, nowMillis) =>
      Effect.andThen(
        knownAccount(query.account),
        Effect.flatMap(watched, (names) => costsOf(store, new Set(names), query, nowMillis))
      ),
    monthCosts,
    events: ({ after, limit, ...filter }) =>
      Effect.andThen(
        Effect.andThen(knownAccount(filter.account), knownSilence(filter.silence)),
        after === undefined ? lastEvents(limit, filter) : eventsAfter(after, limit, filter)
      ),
    cursor: Effect.map(end, formatCursor),
    eventAfter,
    sinks: Effect.gen(function* () {
      const statuses = yield* Effect.orDie(sinks.status)
      return yield* Effect.forEach(
        statuses,
        ({ dead, failingSinceMillis, message, name, pending, silenced, state, unread }) =>
          Effect.map(Effect.orDie(store.cursorOf(name)), (cursor) => ({
            sink: name,
            kind: kinds.get(name) ?? "not configured",
            state,
            message,
            cursor: formatCursor(cursor),
            lag: unread,
            waiting: pending,
            silenced,
            deadLetters: dead,
            failingSince: instantOf(failingSinceMillis)
          }))
      )
    }),
    enable: (name) => Effect.andThen(knownSink(name), Effect.orDie(sinks.enable(name))),
    retry: (name) => Effect.andThen(knownSink(name), Effect.orDie(sinks.retry(name))),
    deadLetters: Effect.fnUntraced(function* (name, { after, limit }) {
      yield* knownSink(name)
      const place = yield* readDeadLetterPlace(after)
      const read = yield* Effect.orDie(store.deadLetters(name, limit + 1, place))
      const page = read.slice(0, limit)
      const last = page.at(-1)
      return {
        deadLetters: page.map(({ attempts, body, diedAtMillis, id, reason }) => ({
          id,
          since: DateTime.makeUnsafe(diedAtMillis),
          attempts,
          reason,
          event: JSON.parse(body) as Record<string, unknown>
        })),
        next: read.length > limit && last !== undefined ? `${last.diedAtMillis}/${last.id}` : null
      }
    }),
    revive: Effect.fnUntraced(function* (name, id) {
      yield* knownSink(name)
      if (yield* Effect.orDie(sinks.revive(name, id))) return
      return yield* new Refused({ kind: "unknown", message: `The sink ${name} has no dead letter ${id}.` })
    }),
    test: (name) => Effect.andThen(knownSink(name), testReceiver(name, attempts.get(name) ?? null)),
    replay: Effect.fnUntraced(function* (name, after, account) {
      yield* knownSink(name)
      yield* knownAccount(account)
      const cursor = yield* readCursor(after)
      yield* Effect.orDie(sinks.replay(name, cursor, account))
    }),
    remove: Effect.fnUntraced(function* (name) {
      yield* knownSink(name)
      const kept = yield* Effect.orDie(sinks.remove(name))
      if (kept !== null) return yield* new Refused({ kind: "invalid", message: keptSentences[kept](name) })
    }),
    silences,
    addSilence,
    endSilence
  })
})

/** `options`: the options of the sinks. */
export const storeDaemon = (
  options: ReadonlyArray<SinkOptions>
): Layer.Layer<Daemon, never, Store | Sinks | Progress | Troubles> => Layer.effect(Daemon, make(options))
