/**
 * The wording of errors for a failed create whose idempotency key berth chose. The user never sees this key, so the hints of `berth node
 * create` do not fit.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { mayBeUnlisted } from "@berthkit/core/domain/ErrorReason"
import { CreateFailed } from "./CliFailure.ts"
import type { Problem } from "./Problem.ts"
import { messageOf, stateRemedy } from "./callInWords.ts"

const runAgain = "Run the same command again: that makes no second node."

/** The hint if the reply named a node: look at that node first. */
export const lookAt = (id: number): string => `See it: berth node get ${id}; nothing is sent again for it.`

/** The wording that differs from that of a create with the user's key. `told` is the hint if the reply named a node. */
export const wordsOfOwnKey = (
  error: BerthError,
  told: (id: number) => string = lookAt,
  again = runAgain
): Partial<Pick<Problem, "message" | "hint">> => {
  const { reason } = error
  switch (reason._tag) {
    case "OutcomeUnknown":
      if (reason.toldId !== null) return { hint: told(reason.toldId) }
      return {
        hint: mayBeUnlisted(reason)
          ? `Look for ${reason.nodeName} in the service's console: nothing is sent again for it.`
          : again
      }
    case "InvalidRequest":
      return reason.fields["key"] === undefined ? {} : { message: error.message, hint: again }
    case "StateUnavailable":
      return { hint: `${stateRemedy(reason)}. ${again}` }
    default:
      return {}
  }
}

const isCall = (failure: { readonly _tag: string } | BerthError): failure is BerthError => failure._tag === "BerthError"

/** The failure of a whole command with this wording, if it differs. */
export const inOwnWords = <E extends { readonly _tag: string }>(failure: E | BerthError, again = runAgain) => {
  if (!isCall(failure)) return failure
  const words = wordsOfOwnKey(failure, lookAt, again)
  return words.hint === undefined
    ? failure
    : new CreateFailed({ error: failure, message: words.message ?? messageOf(failure), hint: words.hint })
}
