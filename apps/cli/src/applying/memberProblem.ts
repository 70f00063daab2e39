/**
 * The failure of one member of a fleet. The user never sees the key of its create, so the hints of `berth node create` do not fit here: the
 * next apply goes on by itself.
 */
import { type Failure, type Problem, problemOf } from "../failure/Problem.ts"

const runAgain = "Run the same command again: that makes no second node."

/** Codes of a file system that is full. */
const full: ReadonlyArray<string | null> = ["ENOSPC", "EDQUOT"]

/** The texts that differ from those of a single create, because berth chose the key. */
const ofKey = (failure: Failure): Partial<Pick<Problem, "message" | "hint">> => {
  if (failure._tag !== "BerthError") return {}
  const { reason } = failure
  switch (reason._tag) {
    case "OutcomeUnknown":
      // If the reply named a node, the user should look at it first.
      return {
        hint:
          reason.toldId === null
            ? runAgain
            : `See it: berth node get ${reason.toldId}; nothing is sent again for it. If it is the member: berth fleet adopt ${reason.toldId} --as MEMBER`
      }
    case "InvalidRequest":
      return reason.fields["key"] === undefined ? {} : { message: failure.message, hint: runAgain }
    case "StateUnavailable": {
      const remedy = full.includes(reason.code) ? "Free space there" : "Make it readable and writable"
      return { hint: `${remedy}. ${runAgain}` }
    }
    default:
      return {}
  }
}

/** Why the change of a member failed, in one sentence, with the service's own reason. */
export const messageOfMember = (failure: Failure): string => ofKey(failure).message ?? problemOf(failure).message

/** The failure as berth reports it. */
export const problemOfMember = (member: string, failure: Failure): Problem => {
  const problem = { ...problemOf(failure), ...ofKey(failure) }
  return { ...problem, message: `${member}: ${problem.message}`, details: { ...problem.details, member } }
}
