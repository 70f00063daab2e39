/**
 * Keeps what lists showed of an account's pages: in memory for one client, in a file for the processes of one machine
 * (`PageFile.ts`). It belongs to one account, and is safe to lose.
 */
import { Context, Effect } from "effect"
import type { PageMemory } from "./PageMemory.ts"

/** The store, as one client uses it. */
export interface PageStore {
  /** The current content; empty where it cannot be read. */
  readonly load: Effect.Effect<PageMemory>
  /** Replaces it, and returns whether that succeeded: a list does not rely on a memory that it cannot count down. */
  readonly save: (memory: PageMemory) => Effect.Effect<boolean>
}

/** The store of the client. Without a layer every client has its own in memory. */
export const PageStore = Context.Reference<PageStore | undefined>("@berthkit/core/client/listing/PageStore", {
  defaultValue: () => undefined
})

/** A store in memory. */
export const makeMemory = (): PageStore => {
  let memory: PageMemory = {}
  return {
    load: Effect.sync(() => memory),
    save: (next) =>
      Effect.sync(() => {
        memory = next
        return true
      })
  }
}
