/**
 * Runs `berth apply` and `berth destroy` from flags to result: reads the file, the ledger (the record of the fleet's nodes) and the
 * account, then makes a plan, shows it, asks and executes it. `previewFleet` stops after the plan and writes nothing.
 */
import type { Change as Recorded } from "@berthkit/core/client/state/Change"
import { ChangedFor } from "@berthkit/core/client/state/ChangedBy"
import type { PriceList } from "@berthkit/core/domain/Price"
import { Duration, Effect } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { freshCatalogue } from "../catalogue/ImageList.ts"
import { FleetConflict, MembersFailed, UsageFault } from "../failure/CliFailure.ts"
import { inOwnWords } from "../failure/ownKey.ts"
import { log as changeLog } from "../history/changes.ts"
import { problemOf } from "../failure/Problem.ts"
import { encodeLedger, type Ledger } from "../fleet/Ledger.ts"
import { memberText } from "../fleet/Member.ts"
import {
  type Change,
  type Conflict,
  countOf,
  doubledOf,
  isIdle,
  isSent,
  type Plan,
  type PlanOptions
} from "../fleet/Change.ts"
import { notedLedger } from "../fleet/notedLedger.ts"
import { mustBeKnown, planOf } from "../fleet/plan.ts"
import { planPrice } from "../fleet/planPrice.ts"
import { reportProblem, whenInterrupted } from "../output/reportProblem.ts"
import { nodeCount } from "../output/format.ts"
import { type Changed, Output, printNote, reportingChanged } from "../output/Output.ts"
import { reportLeftOut } from "../output/progress.ts"
import type { FleetChange } from "../records/fleetChange.ts"
import { priceText } from "../records/price.ts"
import { canAsk } from "../proposal/confirm.ts"
import { underPlansOfFleet } from "../nodes/askedPlan.ts"
import {
  askConsent,
  checkAtOnce,
  checkCost,
  checkDeletes,
  ensureConsent,
  type Limits,
  notePrice,
  printChanges,
  shownText,
  showPlan
} from "./showPlan.ts"
import { creatingClient } from "../settings/client.ts"
import { type FleetPlace, type ReadFleet, readFleetFile } from "./FleetPlace.ts"
import {
  ensureNotElsewhere,
  knownLedgers,
  ledgersToShow,
  machineName,
  nodesElsewhere,
  notingProtected,
  ownAccount,
  protectedBesides,
  registered,
  released,
  unprotectedSince
} from "./Registry.ts"
import { type LedgerFile, readLedger, withLedger } from "./LedgerFile.ts"
import { awaitGone, knownGone, observe, type Observed, presumed, proved, terminatingIn } from "./observe.ts"
import { type Resolved, resolveAndObserve, resolvePending } from "./pending.ts"
import type { TimedPrices } from "./freshPrices.ts"
import { ordersNothing, pricesFor } from "./orders.ts"
import { type Means, perform } from "./perform.ts"
import { problemOfMember } from "./memberProblem.ts"
import { type Done, rowsOf } from "./rows.ts"
import { seeCommitment, type Sent, SentLog, sentSoFar } from "./sent.ts"

export interface FleetOptions
  extends
    Limits,
    Omit<PlanOptions, "isDestroy">,
    Pick<Means, "wait" | "timeout" | "maxUnavailable" | "readyCommand" | "readyTimeout"> {
  readonly place: FleetPlace
  /**
   * How long a node must be missing from the list, and reads must answer 404, before the node counts as gone; default
   * one minute.
   */
  readonly grace: Duration.Duration | undefined
}

/** Adds `-f FILE` to the commands in a string if the fleet file is not the default one. */
const typed = (text: string, { flag }: FleetPlace): string =>
  text.replaceAll(/berth (?:fleet (?:adopt|forget)|apply|diff|destroy)/g, (command) => `${command}${flag}`)

/** Says that this ledger is outdated, if `berth apply` created a node that the ledger does not have. */
const behindText = (log: ReadonlyArray<Recorded>, taken: number | undefined): string => {
  const made = log.find(({ action, command, node }) => action === "create" && command === "apply" && node === taken)
  if (made === undefined) return ""
  const job = made.job === null ? "" : ` (${made.job})`
  return `berth apply created node ${made.node} at ${made.at} on ${made.host}${job}, so this ledger may be behind: use the ledger of that run, for example with git pull. `
}

/** Reports every conflict, and fails with the last one. */
const refuse = Effect.fnUntraced(function* (conflicts: ReadonlyArray<Conflict>, place: FleetPlace) {
  const [last, ...others] = conflicts.toReversed()
  if (last === undefined) return
  const isAboutTaken = conflicts.some(({ taken }) => taken !== undefined)
  const log = isAboutTaken
    ? yield* Effect.orElseSucceed(
        Effect.map(changeLog, ({ changes }) => changes),
        () => []
      )
    : []
  const failureOf = ({ hint, kind, message, taken }: Conflict) => {
    const told = { message: typed(message, place), hint: behindText(log, taken) + typed(hint, place) }
    return kind === "usage" ? new UsageFault(told) : new FleetConflict(told)
  }
  for (const conflict of others.toReversed()) yield* reportProblem(problemOf(failureOf(conflict)))
  return yield* failureOf(last)
})

/**
 * Fails if a member has more than one node, or if it is unknown whether a commitment was set. A member (one entry of the fleet) has two
 * nodes if berth ran on two computers that share no state, and each created one.
 */
export const ensureSingle = (plan: Plan) => {
  const unsure = plan.changes.find(({ action }) => action === "unsure")
  const doubled = doubledOf(plan)
  const [first] = doubled
  if (first === undefined && unsure === undefined) return Effect.void
  if (first === undefined) {
    return Effect.fail(
      new FleetConflict({
        message: `It is not known whether the commitment of ${memberText(unsure!.member)} was set.`,
        hint: "Look in the account portal, and record what it shows with berth fleet adopt --commitment. The column WHY has the full command."
      })
    )
  }
  return Effect.fail(
    new FleetConflict({
      message:
        doubled.length === 1
          ? `${first} has more than one node.`
          : `${doubled.length} members have more than one node: ${doubled.join(", ")}.`,
      hint: "Each of the nodes is billed. The column WHY names the second node and says what to do."
    })
  )
}

/**
 * Fails in the cases of `ensureSingle`. Fails, too, if a destroy has kept members, because a script must not conclude that the whole fleet
 * is gone.
 */
export const ensureEnded = Effect.fnUntraced(function* (plan: Plan, isDestroy: boolean, place: FleetPlace) {
  yield* ensureSingle(plan)
  const kept = isDestroy ? plan.changes.filter(({ action }) => action === "kept") : []
  if (kept.length === 0) return
  const names = kept.map(({ member }) => memberText(member))
  return yield* new FleetConflict({
    message: `Kept, because they are protected, and billed: ${names.join(", ")}.`,
    hint: typed(
      "The column WHY says what protects each. Remove protect from the file, run berth apply, and then berth destroy again.",
      place
    )
  })
})

/** The observed account, in which each node's plan has the slug that the fleet file uses. */
const withAskedPlans = Effect.fnUntraced(function* (observed: Observed, fleet: ReadFleet, ledger: Ledger) {
  const nodes = yield* underPlansOfFleet(observed.world.nodes, fleet, ledger)
  return nodes === observed.world.nodes ? observed : { ...observed, world: { ...observed.world, nodes } }
})

/** The plan with its conflicts. */
const planned = (
  fleet: ReadFleet,
  { candidates, conflicts, ledger }: Resolved,
  observed: Observed,
  protections: ReadonlyMap<number, string>,
  options: PlanOptions
): Plan => {
  const plan = planOf(fleet, ledger, { ...observed.world, candidates, protections }, options)
  return { ...plan, conflicts: [...conflicts, ...observed.conflicts, ...plan.conflicts] }
}

/** The plan of a fleet for display only: missing nodes count as gone. */
export const previewFleet = Effect.fnUntraced(
  function* (
    place: FleetPlace,
    options: PlanOptions & Partial<Pick<Limits, "maxCost" | "maxCommitment" | "maxMinimum" | "maxUnavailable">>
  ) {
    const { isDestroy, maxCommitment, maxCost, maxMinimum, maxUnavailable = 1 } = options
    const fleet = yield* readFleetFile(place)
    const own = yield* ownAccount
    const ledger = yield* readLedger(place.ledger, { ...own, fleet: fleet.fleet })
    const ledgers = yield* ledgersToShow(own)
    const listed = { fleet: fleet.fleet, ledger: place.ledger }
    yield* ensureNotElsewhere(ledgers, listed, ledger)
    const protections = protectedBesides(ledgers, listed, ledger)
    const isPending = Array.from(ledger.members.values()).some(({ state }) => state === "creating")
    // This machine's records of creates matter only if the ledger has open creates.
    const elsewhere = nodesElsewhere(ledgers, fleet.fleet)
    const pending = isPending
      ? yield* Effect.provide(
          resolvePending(ledger, yield* machineName, mustBeKnown(fleet, ledger, options, { protections })),
          creatingClient(undefined)
        )
      : { ledger, conflicts: [], candidates: new Map<string, ReadonlyArray<number>>() }
    const seen = yield* observe(pending.ledger, elsewhere)
    const observed = yield* withAskedPlans(seen, fleet, pending.ledger)
    const plan = planned(fleet, pending, presumed(observed), protections, options)
    yield* refuse(plan.conflicts, place)
    const prices = yield* pricesFor(plan, fleet, place, isDestroy)
    yield* checkCost(plan, prices, { maxCost, maxUnavailable })
    yield* checkAtOnce(plan, prices, { maxCommitment, maxMinimum, yes: false })
    yield* printChanges(rowsOf(plan, prices, { isPreview: true }))
    yield* notePrice(plan, prices)
    return plan
  },
  Effect.mapError((failure) => inOwnWords(failure))
)

/** The message when a run is stopped. */
const stopped = (done: number, all: number, sent: ReadonlyArray<Sent>, place: FleetPlace) => {
  const { details, message } = sentSoFar(sent)
  const open = sent.find(({ action, outcome }) => action === "commit" && outcome === "unknown")
  const again = "Run the same command again to continue."
  return {
    message: `Interrupted; ${done} of ${all} changes are done, and the ledger has them. ${message}`.trimEnd(),
    hint:
      open === undefined || open.id === null
        ? again
        : `${typed(seeCommitment(open.id, open.member, quoted(open.commitment ?? "")), place)}. ${again}`,
    details
  }
}

const isSameLedger = (a: Ledger, b: Ledger): boolean => encodeLedger(a) === encodeLedger(b)

/** The changes so far, for a stopped run, which does not print the table with one row per change. */
const changedBy = (rows: ReadonlyArray<FleetChange>, { ledger }: FleetPlace): Changed | undefined => {
  const changed = rows.filter(({ outcome }) => !["planned", "none", "failed", "skipped"].includes(outcome))
  if (changed.length === 0) return undefined
  return {
    message: changed.length === 1 ? "1 member was changed." : `${changed.length} members were changed.`,
    hint: `The ledger shows what exists: ${ledger}`,
    details: { members: changed.map(({ id, member, outcome }) => ({ member, id, outcome })) }
  }
}

/** The sentence that is printed if the plan sends nothing. */
const idleSentence = (plan: Plan): string => {
  const count = (action: Change["action"]) => countOf(plan, action)
  const members = (n: number, one: string, many: string) => (n === 1 ? `1 member ${one}` : `${n} members ${many}`)
  const differing = plan.changes.flatMap((change) => (change.action === "differs" ? [change.remedy] : []))
  const remedied = (...remedies: ReadonlyArray<(typeof differing)[number]>) =>
    differing.filter((remedy) => remedies.includes(remedy)).length
  /** The part of the sentence that is about `n` members; an empty array if `n` is 0. */
  const part = (n: number, one: string, many: string, rest = ""): ReadonlyArray<string> =>
    n === 0 ? [] : [`${members(n, one, many)}${rest}`]
  const untilNow = " protected until now; the next apply"
  const isReleased = (change: Change) => change.action === "kept" && change.isReleased && change.why === undefined
  const keptReleased = plan.changes.filter(isReleased).length
  const left = [
    ...part(remedied("replace", "goOn"), "differs", "differ", "; --replace changes that"),
    ...part(remedied("protected"), "differs and is", "differ and are", " protected"),
    ...part(
      remedied("releasedReplace"),
      "differs and was",
      "differ and were",
      `${untilNow} with --replace changes that`
    ),
    ...part(remedied("released"), "differs and was", "differ and were", `${untilNow} changes that`),
    ...part(
      remedied("commitment", "bought"),
      "has a commitment",
      "have commitments",
      " that the file names differently or not at all"
    ),
    ...part(count("unsure"), "has", "have", " a commitment request that got no reply"),
    ...part(count("kept") - keptReleased, "is", "are", " surplus but protected"),
    ...part(keptReleased, "is surplus and was", "are surplus and were", `${untilNow} may delete what is too many`),
    ...part(count("doubted"), "is", "are", " left alone, see the column WHY")
  ]
  return left.length === 0 ? "Nothing to change." : `Nothing was changed: ${left.join("; ")}.`
}

/** The cost of the fleet after the run. */
const finalSentence = (plan: Plan, prices: PriceList): string => {
  const { after } = planPrice(plan, prices)
  const text = priceText(after)
  return text === undefined ? "The price of the fleet is not known." : `The fleet costs ${text}.`
}

/** Waits for nodes that are being deleted, and finds out which suspects (missing nodes) are gone. Returns the latest observation. */
const settledWorld = Effect.fnUntraced(function* (
  before: Observed,
  ledger: Ledger,
  { grace, isDestroy, timeout }: FleetOptions
) {
  const { elsewhere } = before.world
  const leaving = isDestroy ? [] : terminatingIn(ledger, before.world)
  let observed = before
  if (leaving.length > 0) {
    yield* awaitGone(leaving, timeout)
    const left = new Set<number>(leaving)
    const again = yield* observe(ledger, elsewhere)
    const suspects = again.suspects.map((suspect) =>
      suspect.expectation === "stays" && left.has(suspect.id) ? { ...suspect, expectation: "goes" as const } : suspect
    )
    observed = { ...again, suspects }
  }
  return yield* proved(observed, ledger, grace && Duration.toMillis(grace))
})

/** Fails if the plan spends or deletes more than the options allow. */
const checkLimits = Effect.fnUntraced(function* (plan: Plan, prices: PriceList, options: FleetOptions) {
  yield* checkCost(plan, prices, options)
  yield* checkAtOnce(plan, prices, options)
  yield* checkDeletes(plan, options)
})

/** A plan within its limits, with the data to execute it. */
interface Prepared {
  readonly fleet: ReadFleet
  readonly plan: Plan
  /** Undefined if nothing is sent. */
  readonly prices: TimedPrices | undefined
  /** The ledger, updated with what the account showed. */
  readonly known: Ledger
  /** The nodes that are certainly gone. */
  readonly gone: ReadonlySet<number>
  /** The nodes that this plan stops protecting. */
  readonly unprotected: ReadonlySet<number>
}

const nothingChanged = "Nothing was changed."

/** Reads everything and makes the plan. Without `--yes` and without a terminal it shows the plan and fails. */
const prepare = Effect.fnUntraced(function* (
  file: LedgerFile,
  fleet: ReadFleet,
  machine: string,
  own: Effect.Success<typeof ownAccount>,
  options: FleetOptions,
  before?: Prepared
) {
  const { isDestroy, pick, place, replace } = options
  const planOptions: PlanOptions = { replace, pick, isDestroy }
  const ledger = yield* file.current
  const ledgers = yield* knownLedgers(own, nothingChanged)
  const elsewhere = nodesElsewhere(ledgers, fleet.fleet)
  const protections = protectedBesides(ledgers, { fleet: fleet.fleet, ledger: place.ledger }, ledger)
  const { observed: listed, resolved } = yield* resolveAndObserve(
    ledger,
    machine,
    mustBeKnown(fleet, ledger, planOptions, { protections }),
    elsewhere
  )
  const seen = yield* withAskedPlans(listed, fleet, resolved.ledger)
  const observed = knownGone(seen, before?.gone ?? new Set())
  const first = planned(fleet, resolved, presumed(observed), protections, planOptions)
  yield* reportLeftOut
  yield* refuse(first.conflicts, place)
  if (!isIdle(first) && !options.yes && !(yield* canAsk)) {
    const prices = yield* pricesFor(first, fleet, place, isDestroy)
    yield* checkLimits(first, prices, options)
    yield* showPlan(first, prices, true)
    yield* ensureConsent
  }
  const settled = yield* withAskedPlans(yield* settledWorld(observed, resolved.ledger, options), fleet, resolved.ledger)
  const plan = planned(fleet, resolved, settled, protections, planOptions)
  yield* refuse(plan.conflicts, place)
  const known = notedLedger(resolved.ledger, plan, fleet, isDestroy)
  // If a group's members differ from the file and its nodes could not be bought, refuse the group, even if this run sends nothing.
  const isEverythingSettled = isDestroy || fleet.groups.every((group) => ordersNothing(plan, group))
  const found = isIdle(plan) && isEverythingSettled ? undefined : yield* pricesFor(plan, fleet, place, isDestroy)
  const prices = isIdle(plan) ? undefined : found
  if (prices !== undefined) yield* checkLimits(plan, prices, options)
  return {
    fleet,
    plan,
    prices,
    known,
    gone: settled.world.gone,
    unprotected: unprotectedSince(ledger, known)
  } satisfies Prepared as Prepared
})

/**
 * Shows the plan and asks, unless `--yes` is set. The user may take hours to answer, so after a yes this function reads everything again.
 * If the plan has changed, it shows the new plan and asks again.
 */
const consented = Effect.fnUntraced(function* <E, R>(
  prepared: Prepared,
  again: (before: Prepared) => Effect.Effect<Prepared, E, R>,
  { yes }: FleetOptions,
  onAsked: (isAsked: boolean) => void
) {
  const { note } = yield* Output
  let shown = prepared
  while (shown.prices !== undefined && !isIdle(shown.plan)) {
    const { fleet, plan, prices } = shown
    yield* showPlan(plan, prices, !yes)
    if (yes) return shown
    onAsked(true)
    yield* askConsent(plan, fleet.fleet)
    onAsked(false)
    const now = yield* again(shown)
    if (now.prices !== undefined && shownText(now.plan, now.prices) === shownText(plan, prices)) return now
    yield* note("The plan changed while the question was open. Nothing has been done yet.")
    shown = now
  }
  return shown
})

/** Changes a fleet to match its file, or deletes it, under the lock of its ledger. */
const changeLocked = Effect.fnUntraced(function* (
  ledgerFile: LedgerFile,
  first: ReadFleet,
  own: Effect.Success<typeof ownAccount>,
  options: FleetOptions,
  /** Called with true before steps that report an interruption themselves, and with false after them. */
  onReported: (isReported: boolean) => void
) {
  const { place } = options
  const listed = { fleet: first.fleet, ledger: place.ledger }
  yield* ensureNotElsewhere(yield* knownLedgers(own, nothingChanged), listed, yield* ledgerFile.current)
  const found = yield* ledgerFile.current
  // A fleet is not registered before it has a member.
  if (found.members.size > 0) yield* registered(listed, found)
  const machine = yield* machineName
  const file = notingProtected(ledgerFile, listed)
  const again = Effect.fnUntraced(function* (before: Prepared) {
    const fleet = yield* readFleetFile(place)
    // After a question, always read the prices again, even if the user answered quickly.
    yield* freshCatalogue
    if (fleet.fleet === first.fleet) return yield* prepare(file, fleet, machine, own, options, before)
    return yield* new FleetConflict({
      message: `Nothing was changed: ${place.file} named another fleet by the time you answered.`,
      hint: "Run the same command again."
    })
  })
  const prepared = yield* prepare(file, first, machine, own, options)
  const { fleet, known, plan, prices, unprotected } = yield* consented(prepared, again, options, onReported)
  yield* released(first.fleet, unprotected)
  if (prices === undefined || isIdle(plan)) {
    if (known.members.size > 0) yield* file.update((before) => (isSameLedger(before, known) ? before : known))
    yield* printChanges(rowsOf(plan, prices))
    yield* printNote(idleSentence(plan))
    return yield* ensureEnded(plan, options.isDestroy, place)
  }

  onReported(true)
  yield* registered(listed, known)
  const before = yield* file.current
  yield* file.update(() => known)
  const all = plan.changes.filter(isSent).length
  const done = new Map<Change, Done>()
  const sent = new SentLog()
  const { scriptsOf } = fleet
  yield* perform(plan, { ...options, file, machine, prices, scriptsOf, before, done, sent }).pipe(
    Effect.provideService(ChangedFor, { fleet: fleet.fleet, lease: null }),
    whenInterrupted(() => {
      const ended = Array.from(done.values()).filter(({ outcome }) => outcome !== "failed" && outcome !== "skipped")
      return stopped(ended.length, all, sent.all, place)
    })
  )
  const rows = rowsOf(plan, prices, { doneOf: (change) => done.get(change) ?? { outcome: "skipped", node: null } })
  yield* reportingChanged(changedBy(rows, place))(printChanges(rows))
  const problems = Array.from(done).flatMap(([{ member }, { failure }]) =>
    failure === undefined ? [] : [problemOfMember(memberText(member), failure)]
  )
  const skipped = rows.filter(({ action, outcome }) => action === "delete" && outcome === "skipped").length
  if (skipped > 0) yield* printNote(`Not deleted: ${nodeCount(skipped)}. See WHY.`)
  if (problems.length === 0) {
    yield* printNote(finalSentence(plan, prices))
    return yield* ensureEnded(plan, options.isDestroy, place)
  }
  for (const problem of problems) yield* reportProblem({ ...problem, hint: typed(problem.hint, place) })
  return yield* new MembersFailed({ failed: problems.length, of: Math.max(all, problems.length) })
})

export const changeFleet = Effect.fnUntraced(
  function* (options: FleetOptions) {
    const { place } = options
    const fleet = yield* readFleetFile(place)
    const own = yield* ownAccount
    let isReported = false
    const unchanged = { message: "Interrupted; nothing was changed.", hint: "" }
    yield* withLedger(place.ledger, { ...own, fleet: fleet.fleet }, (file) =>
      changeLocked(file, fleet, own, options, (now) => (isReported = now))
    ).pipe(whenInterrupted(() => (isReported ? undefined : unchanged)))
  },
  Effect.mapError((failure) => inOwnWords(failure))
)
