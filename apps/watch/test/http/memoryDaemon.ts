/** A daemon in memory. A test decides what the HTTP interface reads from it. */
import type { Node } from "@berthkit/core/domain/Node"
import { DateTime, Deferred, Effect, Layer, Schema } from "effect"
import { Node as NodeSchema } from "@berthkit/core/domain/Node"
import { label, spelling } from "@berthkit/core/domain/NodeStatus"
import { silenceProblem } from "../../src/deliver/SilenceRequest.ts"
import { Daemon, Refused } from "../../src/http/Daemon.ts"
import type { EventFilter } from "../../src/store/events.ts"
import type {
  AccountCost,
  AccountStatus,
  DeliveredEvent,
  LoggedEvent,
  PricedPlan,
  ProcessStatus,
  DeadLetter,
  Silence,
  SinkStatus,
  Trouble
} from "../../src/http/records.ts"

const encodeNode = Schema.encodeSync(Schema.toCodecJson(NodeSchema))

export const anAccount = (rest: Partial<AccountStatus> = {}): AccountStatus => ({
  account: "default",
  state: "watching",
  nodes: 0,
  lastSweep: null,
  unreadable: null,
  nextSweepAt: null,
  requestsPerHour: 720,
  sweepIntervalMillis: 10_000,
  detectionLatencyMillis: null,
  allowance: null,
  ...rest
})

export const aSink = (rest: Partial<SinkStatus> = {}): SinkStatus => ({
  sink: "ops",
  kind: "webhook",
  state: "up",
  message: null,
  cursor: "",
  lag: 0,
  waiting: 0,
  silenced: 0,
  deadLetters: 0,
  failingSince: null,
  ...rest
})

export const aSilence = (rest: Partial<Silence> = {}): Silence => ({
  id: "0a1b2c",
  nodes: ["web-*"],
  accounts: [],
  sinks: [],
  from: DateTime.makeUnsafe("2026-03-01T03:00:00Z"),
  until: DateTime.makeUnsafe("2026-03-01T05:00:00Z"),
  reason: "new disks",
  then: "deliver",
  state: "active",
  held: 0,
  dropped: 0,
  ...rest
})

export const aTrouble = (rest: Partial<Trouble> = {}): Trouble => ({
  name: "service-failing",
  about: { kind: "account", name: "default" },
  severity: "warning",
  message: "The list of nodes cannot be read. The service could not be reached.",
  next: "Check the service and the network; the daemon keeps trying.",
  since: DateTime.makeUnsafe("2026-03-01T03:00:00Z"),
  ...rest
})

const isMatch = ({ event }: LoggedEvent, { account, cause, node, type }: EventFilter): boolean =>
  (account === undefined || event.source === `/accounts/${account}`) &&
  (node === undefined || event.subject === `nodes/${node}`) &&
  (cause === undefined || event.data["cause"] === cause) &&
  (type === undefined || (type.endsWith("*") ? event.type.startsWith(type.slice(0, -1)) : event.type === type))

const place = /^(?:|(\d+))$/

export type MemoryDaemon = ReturnType<typeof makeMemoryDaemon>

export const makeMemoryDaemon = () => {
  const state = {
    accounts: [anAccount()] as Array<AccountStatus>,
    processes: [] as Array<ProcessStatus>,
    troubles: [] as Array<Trouble>,
    nodes: new Map<number, Node & { readonly since: DateTime.Utc | null; readonly account?: string }>(),
    plans: [] as Array<PricedPlan>,
    costs: [] as Array<AccountCost>,
    sinks: [] as Array<SinkStatus>,
    deadLetters: new Map<string, ReadonlyArray<DeadLetter>>(),
    silences: [] as Array<Silence>,
    events: [] as Array<LoggedEvent>,
    /** Sequence of the first event that is kept. */
    kept: 1,
    /** The requests to the sinks. */
    asked: [] as Array<string>,
    reads: 0,
    nodeReads: 0
  }
  let appended = Deferred.makeUnsafe<void>()

  const append = (event: Partial<DeliveredEvent> & Pick<DeliveredEvent, "type">): LoggedEvent => {
    const sequence = state.events.length + state.kept
    const logged: LoggedEvent = {
      cursor: `${sequence}`,
      event: {
        specversion: "1.0",
        id: `event-${sequence}`,
        source: "/accounts/default",
        sequence: String(sequence).padStart(16, "0"),
        time: "2026-03-01T10:20:30.000Z",
        datacontenttype: "application/json",
        data: {},
        ...event
      }
    }
    state.events.push(logged)
    const due = appended
    appended = Deferred.makeUnsafe()
    Deferred.doneUnsafe(due, Effect.void)
    return logged
  }

  /** Adds or changes a node, together with the event about it. */
  const put = (node: Node, time: string, account = "default") => {
    const before = state.nodes.get(node.id)
    const isChange = before !== undefined && label(before.status) !== label(node.status)
    const since = isChange || before === undefined ? DateTime.makeUnsafe(time) : before.since
    state.nodes.set(node.id, { ...node, since, account })
    return append({
      source: `/accounts/${account}`,
      type: before === undefined ? "berth.node.created" : isChange ? "berth.node.status_changed" : "berth.node.changed",
      subject: `nodes/${node.id}`,
      time,
      data: {
        ...(isChange ? { from: before.status, to: node.status } : {}),
        before: before === undefined ? null : encodeNode(before),
        after: encodeNode(node),
        observedBetween: [time, time],
        sweep: 1
      }
    })
  }

  const remove = (id: number, time: string, explained: object = {}) => {
    const before = state.nodes.get(id)!
    state.nodes.delete(id)
    return append({
      source: `/accounts/${before.account ?? "default"}`,
      type: "berth.node.deleted",
      subject: `nodes/${id}`,
      time,
      data: { before: encodeNode(before), after: null, ...explained, observedBetween: [time, time], sweep: 1 }
    })
  }

  const end = () => (state.events.length === 0 ? "" : state.events.at(-1)!.cursor)

  const sequenceOf = Effect.fnUntraced(function* (cursor: string) {
    const found = place.exec(cursor)
    if (found === null) return yield* new Refused({ kind: "invalid", message: `${cursor} is no cursor.` })
    const sequence = Number(found[1] ?? state.kept - 1)
    if (sequence < state.kept - 1) return yield* new Refused({ kind: "gone", message: `${cursor} is no longer kept.` })
    return sequence
  })

  const forSink = (verb: string) => (sink: string) =>
    Effect.suspend(() => {
      const isKnown = state.sinks.some((known) => known.sink === sink)
      if (!isKnown) return new Refused({ kind: "unknown", message: `There is no sink ${sink}.` })
      state.asked.push(`${verb} ${sink}`)
      return Effect.void
    })

  const service: Daemon["Service"] = {
    accounts: Effect.sync(() => state.accounts),
    processes: Effect.sync(() => state.processes),
    troubles: Effect.sync(() => state.troubles),
    storeBytes: Effect.succeed(4096),
    plans: Effect.sync(() => state.plans),
    costs: () => Effect.sync(() => state.costs),
    monthCosts: Effect.sync(() => state.costs),
    sinks: Effect.sync(() => state.sinks),
    cursor: Effect.sync(end),
    nodeCounts: Effect.sync(() =>
      Array.from(
        Map.groupBy(state.nodes.values(), ({ account = "default", plan, status }) =>
          JSON.stringify([account, spelling(status), plan])
        ),
        ([key, { length: count }]) => {
          const [account, status, plan] = JSON.parse(key)
          return { account, status, plan, count }
        }
      )
    ),
    nodes: ({ account, after, at, limit }) =>
      Effect.suspend(() => {
        state.nodeReads++
        if (account !== undefined && !state.accounts.some((known) => known.account === account)) {
          return new Refused({ kind: "unknown", message: `There is no account ${account}.` })
        }
        const ids = [...state.nodes.keys()].sort((a, b) => a - b).filter((id) => id > Number(after ?? 0))
        const nodes = ids.slice(0, limit).flatMap((id) => {
          const { account: its = "default", since, ...node } = state.nodes.get(id)!
          if (at !== undefined && DateTime.isGreaterThan(node.createdAt!, at)) return []
          return account === undefined || account === its ? [{ ...node, account: its, statusSince: since }] : []
        })
        return Effect.succeed({ nodes, next: ids.length > limit ? String(ids[limit - 1]) : null, cursor: end() })
      }),
    events: ({ after, limit, ...filter }) =>
      Effect.gen(function* () {
        state.reads++
        if (after === undefined) {
          const events = state.events.filter((event) => isMatch(event, filter)).slice(-limit)
          return { events, next: end(), more: false }
        }
        const from = yield* sequenceOf(after)
        const scanned = state.events.slice(from - state.kept + 1)
        const matching = scanned.filter((event) => isMatch(event, filter))
        const events = matching.slice(0, limit)
        const more = matching.length > limit
        return { events, more, next: more ? events.at(-1)!.cursor : (scanned.at(-1)?.cursor ?? after) }
      }),
    eventAfter: (cursor) => Effect.suspend(() => (end() === cursor ? Deferred.await(appended) : Effect.void)),
    enable: forSink("enable"),
    retry: forSink("retry"),
    deadLetters: (sink, { limit }) =>
      Effect.suspend(() => {
        const found = state.deadLetters.get(sink) ?? []
        return Effect.succeed({ deadLetters: found.slice(0, limit), next: null })
      }),
    revive: (sink, id) =>
      Effect.suspend(() => {
        const found = state.deadLetters.get(sink) ?? []
        if (!found.some((letter) => letter.id === id)) {
          return new Refused({ kind: "unknown", message: `The sink ${sink} has no dead letter ${id}.` })
        }
        state.deadLetters.set(
          sink,
          found.filter((letter) => letter.id !== id)
        )
        state.asked.push(`revive ${sink} ${id}`)
        return Effect.void
      }),
    test: forSink("test"),
    replay: (sink, after, account) =>
      Effect.andThen(sequenceOf(after), forSink(["replay", after, account].join(" ").trim())(sink)),
    remove: forSink("remove"),
    silences: Effect.sync(() => state.silences),
    addSilence: (asked) =>
      Effect.flatMap(DateTime.now, (now) => {
        const { atEnd, fromMillis, untilMillis, ...request } = asked
        const problem = silenceProblem(asked, {
          accounts: state.accounts.map(({ account }) => account),
          sinks: state.sinks.map(({ sink }) => sink),
          silences: [],
          nowMillis: DateTime.toEpochMillis(now)
        })
        if (problem !== null) return new Refused({ kind: "invalid", message: problem })
        const from = fromMillis === null ? now : DateTime.makeUnsafe(fromMillis)
        const until = DateTime.makeUnsafe(untilMillis)
        const silence = aSilence({ ...request, id: `silence-${state.silences.length}`, from, until, then: atEnd })
        state.silences.push(silence)
        return Effect.succeed(silence)
      }),
    endSilence: (id, atEnd) =>
      Effect.gen(function* () {
        const index = state.silences.findIndex((silence) => silence.id === id)
        const found = state.silences[index]
        if (found === undefined) {
          return yield* new Refused({ kind: "unknown", message: `There is no silence ${id}.` })
        }
        const ended: Silence = { ...found, until: yield* DateTime.now, then: atEnd ?? found.then, state: "over" }
        state.silences[index] = ended
        return ended
      })
  }

  return { state, append, put, remove, layer: Layer.succeed(Daemon, service) }
}
