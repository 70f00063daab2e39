/** One account of a running daemon: its client, its state, and its polling with progress reports. */
import { countsFrom } from "@berthkit/core/api/AllowanceHeaders"
import type { RawReply } from "@berthkit/core/api/Reply"
import { Allowance } from "@berthkit/core/client/Allowance"
import { accountFiles } from "@berthkit/core/client/AccountFiles"
import { recordsOf } from "@berthkit/core/client/RecordFolder"
import { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import * as Berth from "@berthkit/core/client/Berth"
import { Images } from "@berthkit/core/client/Images"
import { Nodes } from "@berthkit/core/client/Nodes"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { accountFingerprint } from "@berthkit/terminal/accountFingerprint"
import type { AllowanceStores } from "@berthkit/terminal/openAllowance"
import type { RecordStores } from "@berthkit/terminal/openState"
import { Context, Effect, Layer, Metric, References, Schedule } from "effect"
import { openAllowance } from "../account/WatchedAllowance.ts"
import { openCatalogue } from "../account/WatchedCatalogue.ts"
import { openAccount, type WatchedAccount } from "../account/WatchedAccount.ts"
import type { AccountOptions } from "../config/Config.ts"
import { type Cause, causes } from "../diff/Cause.ts"
import { defaultRules } from "../diff/Snapshot.ts"
import type { Fact } from "../diff/Fact.ts"
import { isLowAfter } from "../diff/LowAllowance.ts"
import type { Observation } from "../diff/Observation.ts"
import { readCatalogues } from "../observe/CatalogueReader.ts"
import { makeMoments } from "../observe/Moments.ts"
import { makePoller, type Poller } from "../observe/Poller.ts"
import { budgetOf, hourly, perHourOf } from "../observe/RequestShare.ts"
import type { Beginnings } from "./beginnings.ts"
import { makeExplain } from "./causes.ts"
import { followLeases } from "./leases.ts"
import type { RunSettings } from "../settings/RunSettings.ts"
import {
  type AccountProgress,
  addWidths,
  leftAs,
  noWords,
  Progress,
  readCondition,
  stateOf,
  sweepOf,
  type Widths,
  type Words
} from "../telemetry/Progress.ts"

/** Pause before retrying an account whose credentials were refused, if there are other accounts. */
const refusedPause = "1 minute"

interface Circumstances {
  readonly settings: RunSettings
  /** Shared by the accounts of the process. */
  readonly beginnings: Beginnings
  /** Whether the daemon has no other account. */
  readonly isOnly: boolean
  /** Where accounts share their allowances; undefined if each uses a file. */
  readonly stores: AllowanceStores | undefined
  /** Where `berth` records what it changes; undefined if that is the state folder. */
  readonly records: RecordStores | undefined
  /** Whether the config replaced another one, to which the daemon can return. */
  readonly isReloaded: boolean
}

/** The part of an allowance that a reply states. */
interface Reported {
  readonly limit: number
  readonly remaining: number
}

const deletionCount = Metric.counter("berth_deletions_total", {
  description: "Nodes that were reported as deleted since the process began, by cause.",
  incremental: true
})

/**
 * Counts deletions. It is first called with 0 for each cause, because Prometheus sees no increase in the first value of a
 * series.
 */
const countDeletions = (account: string, cause: Cause, count: number) =>
  Metric.update(Metric.withAttributes(deletionCount, { account, cause }), count)

/** The account's files. If the allowance is in a database, it needs no file, and a missing state folder needs no warning. */
const filesOf = (connection: AccountOptions["connection"], isShared: boolean) => {
  // The options were checked when they were read.
  const files = Effect.orDie(accountFiles(connection))
  if (!isShared) return files
  return Effect.map(Effect.provideService(files, References.MinimumLogLevel, "None"), ({ intents }) => ({
    intents,
    allowanceFile: undefined
  }))
}

/** Opens the account. Returns an effect that polls it until interrupted. */
export const watchAccount = Effect.fnUntraced(function* (
  options: AccountOptions,
  { beginnings, isOnly, isReloaded, records, settings, stores }: Circumstances
) {
  const { connection, name } = options
  const progress = yield* Progress
  const { allowanceFile, intents } = yield* filesOf(connection, stores !== undefined)
  let reported: Reported | null = null
  const onReply = ({ headers }: RawReply) =>
    Effect.sync(() => {
      const { limit, remaining } = countsFrom(headers)
      if (limit !== null && remaining !== null) reported = { limit, remaining }
    })
  const clientOptions = { ...connection, allowanceFile, onReply }
  const client = yield* Layer.build(Layer.orDie(Berth.layerOver(clientOptions, NodeTransport.layer))).pipe(
    // Gives the client's counters and histograms the account as a label.
    Effect.provideService(Metric.CurrentMetricAttributes, { account: name }),
    Effect.provideService(AllowanceStore, yield* stores?.(connection) ?? Effect.undefined)
  )
  const { current: allowance } = Context.get(client, Allowance)
  const moments = yield* makeMoments
  const ownRecords = intents === undefined ? undefined : recordsOf(intents)
  const noted = records === undefined ? ownRecords : yield* records(connection)
  const leases = yield* followLeases(noted)
  const watched = yield* openAccount({
    name,
    // With another key, service, project or location, the nodes may belong to another account.
    fingerprint: accountFingerprint(connection),
    begun: yield* moments.now,
    alertRules: () => ({ budget: options.budget, forgottenMillis: options.forgottenMillis, leases: leases.current }),
    explain: makeExplain(name, noted)
  })
  const catalogue = yield* openCatalogue(watched)
  for (const cause of causes) yield* countDeletions(name, cause, 0)
  const graceMillis = settings.graceMillis ?? options.graceMillis
  const intervalMillis = settings.intervalMillis ?? options.intervalMillis
  const observeAllowance = yield* openAllowance(watched)

  let widths: Widths = []
  let words = noWords
  let taken: Reported | null = null
  let left: AccountProgress["allowance"] = null

  /**
   * Records the remaining allowance after a reply, and reports an event when it is low. It uses the number in the newest reply,
   * not the client's estimate: after a 429 the client assumes zero for a while.
   */
  const noteAllowance = Effect.fnUntraced(function* (atMillis: number) {
    if (reported === taken || reported === null) return left
    taken = reported
    const { resetInMillis } = yield* allowance
    const known = { ...taken, resetMillis: resetInMillis === null ? null : Math.round(atMillis + resetInMillis) }
    const { budget, left: ownLeft, sent } = yield* poller.spent
    const read = { ...known, atMillis, ownPerHour: perHourOf({ ...budget, requests: sent }), ownLeft }
    yield* observeAllowance(read)
    left = { ...known, isLow: isLowAfter(left?.isLow === true, read) }
    return left
  })

  /** The sentences for the account's troubles. While the list cannot be read, the last error stays in the sentence. */
  const wordsAfter = (observation: Observation, facts: ReadonlyArray<Fact>): Words => {
    let next = words
    for (const fact of facts) {
      if (fact.type !== "berth.watch.degraded") continue
      const { message, trouble } = fact.data
      next =
        trouble === "sweep-failed" ? { ...next, outage: { message, isRefusal: false } } : { ...next, doubt: message }
    }
    if (observation._tag !== "RequestFailed" || watched.snapshot.standing.outage === null) return next
    return { ...next, outage: { message: observation.message, isRefusal: observation.isRefusal === true } }
  }

  const observe: WatchedAccount["observe"] = Effect.fnUntraced(function* (observation, rules) {
    const facts = yield* watched.observe(observation, rules)
    for (const fact of facts) {
      if (fact.type === "berth.node.deleted") yield* countDeletions(name, fact.data.cause, 1)
    }
    const { standing } = watched.snapshot
    const { atMillis } = observation.answered
    const allowance = yield* noteAllowance(atMillis)
    const before = words
    words = wordsAfter(observation, facts)
    const isSweep = observation._tag === "SweepCompleted" && standing.baselineMillis !== null
    if (facts.length === 0 && !isSweep && words === before) return facts
    widths = addWidths(widths, facts, atMillis)
    yield* progress.report(name, {
      ...stateOf(standing, words),
      ...(isSweep
        ? {
            ...sweepOf(observation, rules.sweepMillis),
            stretchedMillis: intervalMillis !== null && rules.sweepMillis > intervalMillis + 1 ? intervalMillis : null
          }
        : {}),
      latencyMillis: widths[0]?.millis ?? null,
      requestsPerHour: Math.round(perHourOf((yield* poller.spent).budget)),
      allowance
    })
    return facts
  })

  const poller: Poller = yield* makePoller({
    nodes: Context.get(client, Nodes),
    moments,
    watch: { snapshot: watched.snapshot, observe },
    rules: {
      ...defaultRules,
      graceMillis,
      terminatingGraceMillis: Math.min(graceMillis, defaultRules.terminatingGraceMillis),
      holdMillis: settings.holdMillis ?? options.holdMillis
    },
    intervalMillis,
    fastIntervalMillis: settings.fastIntervalMillis,
    budget:
      settings.requestsPerHour === null
        ? Effect.map(allowance, (known) => budgetOf(options.share, known))
        : Effect.succeed(hourly(settings.requestsPerHour)),
    areCredentialsNew: isReloaded && isOnly
  })

  /** The other accounts continue while the service refuses the credentials of this one. */
  const whileRefused = (failure: BerthError) =>
    Effect.gen(function* () {
      yield* progress.report(name, {
        state: "degraded",
        outage: { message: failure.message, sinceMillis: (yield* moments.now).atMillis, isRefusal: true }
      })
      return yield* poller.run.pipe(
        Effect.retry({ while: ({ _tag }) => _tag === "BerthError", schedule: Schedule.spaced(refusedPause) }),
        Effect.catchTag("BerthError", () => Effect.never)
      )
    })

  // Start with the troubles that the last owner reported. Each ends only when this process finds that it is over.
  yield* progress.report(name, leftAs(watched.snapshot.standing, readCondition(watched.condition)))
  const polling = isOnly ? poller.run : Effect.catchTag(poller.run, "BerthError", whileRefused)
  const images = Context.get(client, Images)
  return Effect.raceFirst(
    beginnings.inTurn(polling, poller.ready),
    readCatalogues({ ...poller, images, snapshot: watched.snapshot, watch: catalogue })
  )
})
