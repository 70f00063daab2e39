/**
 * Where the clients that spend the same allowance meet: those of one machine at a file (`AllowanceFile.ts`), those of several
 * machines at whatever fills this interface, such as Redis. What is kept there is safe to lose.
 */
import { Context, Data, type Effect, type Option, Predicate } from "effect"
import type { ServiceClock } from "./ServiceClock.ts"
import type { SharedView } from "./View.ts"

/** What the clients tell each other. Instants are milliseconds on the store's clock. */
export interface SharedAllowance {
  readonly version: 1
  readonly writtenAt: number
  /** Nobody may go before: a refusal said so. */
  readonly pausedUntil: number
  /** Bounds on how far the service's clock is ahead of the store's. */
  readonly clock?: ServiceClock | undefined
  /** What the newest reply said. */
  readonly view?: SharedView | undefined
}

const ofClock: ReadonlyArray<keyof ServiceClock> = ["aheadAtLeastMillis", "aheadAtMostMillis"]
const ofView: ReadonlyArray<keyof SharedView> = [
  "limit",
  "remaining",
  "resetSeconds",
  "resetBy",
  "resetAround",
  "sentAt",
  "receivedAt"
]

const hasNumbers = (value: unknown, names: ReadonlyArray<string>): boolean =>
  Predicate.isObject(value) && names.every((name) => Number.isFinite(value[name]))

/** Whether a value that was read from a store is whole. By hand: a schema would take most of the time that sharing costs a command. */
export const isSharedAllowance = (value: unknown): value is SharedAllowance => {
  if (!Predicate.isObject(value) || value["version"] !== 1 || !hasNumbers(value, ["writtenAt", "pausedUntil"]))
    return false
  const { clock, view } = value
  return (clock === undefined || hasNumbers(clock, ofClock)) && (view === undefined || hasNumbers(view, ofView))
}

/** The store cannot be used. The client is told once, and goes by its own replies. */
export class AllowanceStoreFailed extends Data.TaggedError("AllowanceStoreFailed")<{
  /** Why, such as what the file system said. */
  readonly detail: string
}> {}

/** The other clients that are there. */
export interface Peers {
  readonly count: number
  /** How many of them come before this one, in an order that is the same for all. */
  readonly before: number
}

/** The store, as one client uses it. */
export interface AllowanceStore {
  /** What warnings call it. */
  readonly name: string
  /** Milliseconds on a clock that all who meet here agree on. */
  readonly now: Effect.Effect<number>
  /** What was written last; none when nothing was. What cannot be understood fails, and is replaced. */
  readonly read: Effect.Effect<Option.Option<SharedAllowance>, AllowanceStoreFailed>
  /** Replaces what is there, as a whole or not at all; the last one to write wins. */
  readonly write: (shared: SharedAllowance) => Effect.Effect<void, AllowanceStoreFailed>
  /** Shows that this client is there, and counts the others that did so in the last `withinMillis`. */
  readonly meet: (withinMillis: number) => Effect.Effect<Peers, AllowanceStoreFailed>
  /** Takes this client out: it is not counted any more. */
  readonly leave: Effect.Effect<void>
}

/** How a client gets its place at a store. Where no layer says, and there is no `allowanceFile`, every client is by itself. */
export const AllowanceStore = Context.Reference<Effect.Effect<AllowanceStore> | undefined>(
  "@berth/core/client/allowance/AllowanceStore",
  { defaultValue: () => undefined }
)
