/** The stored knowledge about the rate-limit allowance of an account: loaded once, and updated from replies. */
import { Effect, Schema } from "effect"
import { afterAllowance, type AllowanceRead, LowAllowance, neverLow } from "../diff/LowAllowance.ts"
import type { Owner } from "../store/ownership.ts"
import { Store } from "../store/Store.ts"
import { makeAccount } from "./WatchedAccount.ts"

const LowAllowanceJson = Schema.fromJsonString(Schema.toCodecJson(LowAllowance))
const write = Schema.encodeSync(LowAllowanceJson)
const read = Schema.decodeSync(LowAllowanceJson)

/** Returns a function that records the allowance reported by a reply. */
export const openAllowance = Effect.fnUntraced(function* ({ owner }: { readonly owner: Owner }) {
  const store = yield* Store
  const kept = yield* store.allowanceOf(owner.account)
  let known = kept === null ? neverLow : read(kept)
  const { observe } = yield* makeAccount({
    owner,
    belief: {
      diff: (report: AllowanceRead) => afterAllowance(known, report),
      durable: (difference: ReturnType<typeof afterAllowance>) =>
        difference.known === known ? {} : { allowance: write(difference.known) },
      apply: (difference) => {
        known = difference.known
      }
    }
  })
  return observe
})
