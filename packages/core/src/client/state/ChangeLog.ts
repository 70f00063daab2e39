/**
 * The log of changes, as the calls of a client use it. Without a place for an account's state, nothing is recorded. `noteChanges.ts` makes
 * the log over a store.
 */
import { Context, type Effect } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import type { Change } from "./Change.ts"

/** The change that a call asks for. */
export type Asked = Pick<Change, "action"> & Partial<Pick<Change, "node" | "name" | "asked">>

/** The outcome of the change. */
export type End = Pick<Change, "outcome"> & Partial<Pick<Change, "node" | "name" | "why">>

export interface ChangeLog {
  /** Notes a change before the call, and its outcome after the call. */
  readonly noted: <A>(
    asked: Asked,
    call: Effect.Effect<A, BerthError>,
    endOf: (done: A) => End
  ) => Effect.Effect<A, BerthError>
  /** Notes a request in the caller's form, unless it only reads. */
  readonly requested: <A>(
    request: { readonly method: string; readonly path: string },
    call: Effect.Effect<A, BerthError>
  ) => Effect.Effect<A, BerthError>
}

/** The log of the client's account. */
export const ChangeLog = Context.Reference<ChangeLog>("@berthkit/core/client/state/ChangeLog", {
  defaultValue: () => ({ noted: (_, call) => call, requested: (_, call) => call })
})
