/**
 * `berth apply` and `berth destroy` from their flags to the result: reads the file, the ledger and the account, plans, shows, asks, carries
 * out. `previewFleet` stops after the plan, and changes no file.
 */
import type { PriceList } from "@berthkit/core/domain/Price"
import { Duration, Effect } from "effect"
import { quoted } from "../commandLine/commandToType.ts"
import { FleetConflict, MembersFailed, UsageFault } from "../failure/CliFailure.ts"
import { type Failure, type Problem, problemOf } from "../failure/Problem.ts"
import { encodeLedger, type Ledger } from "../fleet/Ledger.ts"
import { memberText } from "../fleet/Member.ts"
import {
  type Change,
  type Conflict,
  countOf,
  isIdle,
  isSent,
  mustBeKnown,
  type Plan,
  planOf,
  type PlanOptions,
  planPrice
} from "../fleet/plan.ts"
import { reportProblem, whenInterrupted } from "../output/reportProblem.ts"
import { type Changed, printNote, reportingChanged } from "../output/Output.ts"
import { reportLeftOut } from "../output/progress.ts"
import type { FleetChange } from "../records/fleetChange.ts"
import { priceText } from "../records/price.ts"
import { type Catalogue, offerFor, pricesOf, publicCatalogue } from "../proposal/offer.ts"
import {
  askConsent,
  checkCost,
  checkDeletes,
  ensureConsent,
  type Limits,
  notePrice,
  printChanges,
  showPlan
} from "./showPlan.ts"
import { creatingClient } from "../settings/client.ts"
import { type FleetPlace, type ReadFleet, readFleetFile } from "./FleetPlace.ts"
import { ownAccount, registered, updateRegistry } from "./Registry.ts"
import { type LedgerFile, readLedger, withLedger } from "./LedgerFile.ts"
import { awaitGone, observe, type Observed, presumed, proved, terminatingIn } from "./observe.ts"
import { type Resolved, resolvePending } from "./pending.ts"
import { type Means, perform, settledLedger, withProtection } from "./perform.ts"
import { type Done, rowsOf } from "./rows.ts"

export interface FleetOptions
  extends
    Limits,
    Omit<PlanOptions, "isDestroy">,
    Pick<Means, "wait" | "timeout" | "maxUnavailable" | "readyCommand" | "readyTimeout"> {
  readonly place: FleetPlace
  /** How long 404s and absence must agree before a member counts as gone; undefined: a minute. */
  readonly grace: Duration.Duration | undefined
}

/** Reports all that is in the way, and fails with the last of it. */
const refuse = Effect.fnUntraced(function* (conflicts: ReadonlyArray<Conflict>, { flag }: FleetPlace) {
  const [last, ...others] = conflicts.toReversed()
  if (last === undefined) return
  // Another file than the default one has to be named in what is to be typed.
  const typed = (text: string) =>
    text.replaceAll(/berth (?:fleet (?:adopt|forget)|apply|diff)/g, (command) => `${command}${flag}`)
  const failureOf = ({ hint, kind, message }: Conflict) => {
    const told = { message: typed(message), hint: typed(hint) }
    return kind === "usage" ? new UsageFault(told) : new FleetConflict(told)
  }
  for (const conflict of others.toReversed()) yield* reportProblem(problemOf(failureOf(conflict)))
  return yield* failureOf(last)
})

/** Why a member cannot be made so: an unknown plan, an image that does not go with it, a commitment that is not offered. */
const checkOrders = Effect.fnUntraced(function* ({ changes }: Plan, catalogue: Catalogue) {
  const checked = new Set<string>()
  for (const change of changes) {
    if (change.action !== "create" && change.action !== "replace" && change.action !== "commit") continue
    const { commitment, group, order } = change.group
    if (checked.has(group)) continue
    checked.add(group)
    if (change.action !== "commit" && order.savedImageTemplateId === undefined) {
      yield* Effect.mapError(
        offerFor({ ...order, name: group }, catalogue, { force: false }),
        ({ hint, message }) =>
          new UsageFault({ message: `nodes.${group}: ${message}`, hint: hint.replace(/; --force .*$/, "") })
      )
    }
    if (commitment === null || commitment.days === null) continue
    const options = pricesOf(catalogue).ofOrder(order).committedOptions
    if (options.some(({ days }) => days === commitment.days)) continue
    const offered = options.map(({ days }) => `${days}d`)
    return yield* new UsageFault({
      message: `nodes.${group}: the plan ${order.plan} has no committed option of ${commitment.days} days; it has ${offered.length === 0 ? "none" : offered.join(", ")}.`,
      hint: `See berth plan get ${quoted(order.plan)}`
    })
  }
})

/** The plan, with everything that is in the way of it. */
const planned = (fleet: ReadFleet, { conflicts, ledger }: Resolved, observed: Observed, options: PlanOptions): Plan => {
  const plan = planOf(fleet, ledger, observed.world, options)
  return { ...plan, conflicts: [...conflicts, ...observed.conflicts, ...plan.conflicts] }
}

/** The plan of a fleet, shown and not carried out: what is missing counts as gone. */
export const previewFleet = Effect.fnUntraced(function* (
  place: FleetPlace,
  options: PlanOptions & Partial<Pick<Limits, "maxCost">>
) {
  const fleet = yield* readFleetFile(place)
  const { registry, ...account } = yield* ownAccount
  const ledger = yield* readLedger(place.ledger, { ...account, fleet: fleet.fleet })
  const isPending = Array.from(ledger.members.values()).some(({ state }) => state === "creating")
  // Only then it matters which creates this machine has recorded.
  const pending = isPending
    ? yield* Effect.provide(
        resolvePending(
          ledger,
          yield* updateRegistry(registry, (fleets) => fleets),
          mustBeKnown(fleet, ledger, options.isDestroy)
        ),
        creatingClient(undefined)
      )
    : { ledger, conflicts: [] }
  const [observed, catalogue] = yield* Effect.all([observe(pending.ledger), publicCatalogue()], { concurrency: 2 })
  const plan = planned(fleet, pending, presumed(observed), options)
  yield* reportLeftOut
  yield* refuse(plan.conflicts, place)
  yield* checkOrders(plan, catalogue)
  const prices = pricesOf(catalogue)
  yield* checkCost(plan, prices, options.maxCost)
  yield* printChanges(rowsOf(plan, prices, { isPreview: true }))
  yield* notePrice(plan, prices)
  return plan
})

/** What is left when a run is stopped. */
const stopped = (done: number, all: number) => ({
  message: `Interrupted; ${done} of ${all} changes are done, and the ledger has them.`,
  hint: "Run the same command again to go on."
})

const isSameLedger = (a: Ledger, b: Ledger): boolean => encodeLedger(a) === encodeLedger(b)

/** What was changed, for a user who does not get the rows. */
const changedBy = (rows: ReadonlyArray<FleetChange>, { ledger }: FleetPlace): Changed | undefined => {
  const changed = rows.filter(({ outcome }) => !["planned", "none", "failed", "skipped"].includes(outcome))
  if (changed.length === 0) return undefined
  return {
    message: changed.length === 1 ? "1 member was changed." : `${changed.length} members were changed.`,
    hint: `The ledger shows what exists: ${ledger}`,
    details: { members: changed.map(({ id, member, outcome }) => ({ member, id, outcome })) }
  }
}

/** The failure of one member. What a create by itself would need done, the next run does. */
const problemOfMember = (member: string, failure: Failure): Problem => {
  const problem = problemOf(failure)
  const tag = failure._tag === "BerthError" ? failure.reason._tag : failure._tag
  return {
    ...problem,
    message: `${member}: ${problem.message}`,
    ...(tag === "OutcomeUnknown" && { hint: "Run the same command again: that makes no second node." }),
    details: { ...problem.details, member }
  }
}

/** Why nothing is sent. */
const idleSentence = (plan: Plan): string => {
  const count = (action: Change["action"]) => countOf(plan, action)
  const members = (n: number, one: string, many: string) => (n === 1 ? `1 member ${one}` : `${n} members ${many}`)
  const left = [
    ...(count("differs") > 0 ? [`${members(count("differs"), "differs", "differ")}; --replace changes that`] : []),
    ...(count("kept") > 0 ? [`${members(count("kept"), "is", "are")} too many and protected`] : []),
    ...(count("doubted") > 0 ? [`${members(count("doubted"), "is", "are")} left alone, see WHY`] : [])
  ]
  return left.length === 0 ? "Nothing to change." : `Nothing was changed: ${left.join("; ")}.`
}

/** What the fleet costs from now on. */
const finalSentence = (plan: Plan, prices: PriceList): string => {
  const { after } = planPrice(plan, prices)
  const text = priceText(after)
  return text === undefined ? "The price of the fleet is not known." : `The fleet costs ${text}.`
}

/** What is known once suspects are proved to be gone, and members that are on their way out have gone. */
const settledWorld = Effect.fnUntraced(function* (
  before: Observed,
  ledger: Ledger,
  { grace, isDestroy, timeout }: FleetOptions
) {
  const leaving = isDestroy ? [] : terminatingIn(ledger, before.world)
  let observed = before
  if (leaving.length > 0) {
    yield* awaitGone(leaving, timeout)
    const left = new Set<number>(leaving)
    const again = yield* observe(ledger)
    const suspects = again.suspects.map(({ id, isExpectedToGo }) => ({
      id,
      isExpectedToGo: isExpectedToGo || left.has(id)
    }))
    observed = { ...again, suspects }
  }
  return yield* proved(observed, ledger, grace && Duration.toMillis(grace))
})

/** Makes a fleet as its file says, or deletes it, while no other run has its ledger. */
const changeLocked = Effect.fnUntraced(function* (
  file: LedgerFile,
  fleet: ReadFleet,
  registry: string,
  options: FleetOptions,
  /** Called once an interruption is reported by what is under way. */
  onReported: () => void
) {
  const { isDestroy, pick, place, replace } = options
  const planOptions: PlanOptions = { replace, pick, isDestroy }
  const machine = yield* registered(registry, { fleet: fleet.fleet, ledger: place.ledger })
  const ledger = yield* file.current
  const resolved = yield* resolvePending(ledger, machine, mustBeKnown(fleet, ledger, isDestroy))
  const observed = yield* observe(resolved.ledger)
  const first = planned(fleet, resolved, presumed(observed), planOptions)
  yield* reportLeftOut
  yield* refuse(first.conflicts, place)
  yield* ensureConsent(first, options)
  const settled = yield* settledWorld(observed, resolved.ledger, options)
  const plan = planned(fleet, resolved, settled, planOptions)
  yield* refuse(plan.conflicts, place)
  const known = withProtection(settledLedger(resolved.ledger, plan), plan, fleet.groups)
  if (isIdle(plan)) {
    if (known.members.size > 0) yield* file.update((before) => (isSameLedger(before, known) ? before : known))
    yield* printChanges(rowsOf(plan, undefined))
    return yield* printNote(idleSentence(plan))
  }

  const catalogue = yield* publicCatalogue()
  yield* reportLeftOut
  yield* checkOrders(plan, catalogue)
  const prices = pricesOf(catalogue)
  yield* checkCost(plan, prices, options.maxCost)
  yield* checkDeletes(plan, options)
  yield* showPlan(plan, prices, !options.yes)
  onReported()
  if (!options.yes) yield* askConsent(plan, fleet.fleet)

  yield* file.update(() => known)
  const all = plan.changes.filter(isSent).length
  const done = new Map<Change, Done>()
  const { scriptsOf } = fleet
  yield* perform(plan, { ...options, file, machine, prices, scriptsOf, done }).pipe(
    whenInterrupted(() => {
      const ended = Array.from(done.values()).filter(({ outcome }) => outcome !== "failed" && outcome !== "skipped")
      return stopped(ended.length, all)
    })
  )
  const rows = rowsOf(plan, prices, { doneOf: (change) => done.get(change) ?? { outcome: "skipped", node: null } })
  yield* reportingChanged(changedBy(rows, place))(printChanges(rows))
  const problems = Array.from(done).flatMap(([{ member }, { failure }]) =>
    failure === undefined ? [] : [problemOfMember(memberText(member), failure)]
  )
  if (problems.length === 0) return yield* printNote(finalSentence(plan, prices))
  for (const problem of problems) yield* reportProblem(problem)
  return yield* new MembersFailed({ failed: problems.length, of: all })
})

export const changeFleet = Effect.fnUntraced(function* (options: FleetOptions) {
  const { place } = options
  const fleet = yield* readFleetFile(place)
  const { registry, ...account } = yield* ownAccount
  let isReported = false
  const unchanged = { message: "Interrupted; nothing was changed.", hint: "" }
  yield* withLedger(place.ledger, { ...account, fleet: fleet.fleet }, (file) =>
    changeLocked(file, fleet, registry, options, () => (isReported = true))
  ).pipe(whenInterrupted(() => (isReported ? undefined : unchanged)))
})
