/**
 * Where the clients that spend the same allowance meet: those of one machine at a file (`AllowanceFile.ts`), those of several
 * machines at whatever fills this interface, such as Redis. What is kept there is safe to lose.
 */
import { Context, type Effect, type Option, Schema } from "effect"

const Instant = Schema.Number.annotate({ description: "Milliseconds on the store's clock." })

/** What the clients tell each other. */
export const SharedAllowance = Schema.Struct({
  version: Schema.Literal(1),
  writtenAt: Instant,
  pausedUntil: Instant.annotate({ description: "Nobody may go before: a refusal said so." }),
  clock: Schema.optional(
    Schema.Struct({ aheadAtLeastMillis: Schema.Number, aheadAtMostMillis: Schema.Number })
  ).annotate({
    description: "Bounds on how far the service's clock is ahead of the store's."
  }),
  view: Schema.optional(
    Schema.Struct({
      limit: Schema.Number,
      remaining: Schema.Number,
      resetSeconds: Schema.Number.annotate({ description: "The reset as the service wrote it." }),
      resetBy: Instant,
      resetAround: Instant,
      sentAt: Instant,
      receivedAt: Instant
    })
  ).annotate({ description: "What the newest reply said." })
}).annotate({ identifier: "SharedAllowance" })
export interface SharedAllowance extends Schema.Schema.Type<typeof SharedAllowance> {}

/** The store cannot be used. The client is told once, and goes by its own replies. */
export class AllowanceStoreFailed extends Schema.TaggedError<AllowanceStoreFailed>()("AllowanceStoreFailed", {
  /** Why, such as what the file system said. */
  detail: Schema.String
}) {}

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
  readonly meet: (withinMillis: number) => Effect.Effect<number, AllowanceStoreFailed>
  /** Takes this client out: it is not counted any more. */
  readonly leave: Effect.Effect<void>
}

/** How a client gets its place at a store. Where no layer says, and there is no `allowanceFile`, every client is by itself. */
export const AllowanceStore = Context.Reference<Effect.Effect<AllowanceStore> | undefined>(
  "@berth/core/client/allowance/AllowanceStore",
  { defaultValue: () => undefined }
)
