/**
 * Puts into words why one member of a fleet failed. The hints of `berth node create` do not fit here, because the user never sees the
 * idempotency key of a member's create, and the next apply continues the create by itself.
 */
import { lookAt, wordsOfOwnKey } from "../failure/ownKey.ts"
import { type Failure, type Problem, problemOf } from "../failure/Problem.ts"

/** The wording that differs from that of `berth node create`, because berth chose the key. */
const ofKey = (member: string, failure: Failure): Partial<Pick<Problem, "message" | "hint">> =>
  failure._tag === "BerthError"
    ? wordsOfOwnKey(failure, (id) => `${lookAt(id)} If it is ${member}: berth fleet adopt ${id} --as ${member}`)
    : {}

/** Why the change of a member failed, in one sentence, with the service's own reason. */
export const messageOfMember = (member: string, failure: Failure): string =>
  ofKey(member, failure).message ?? problemOf(failure).message

/** The failure in the form in which berth reports it. */
export const problemOfMember = (member: string, failure: Failure): Problem => {
  const problem = { ...problemOf(failure), ...ofKey(member, failure) }
  return { ...problem, message: `${member}: ${problem.message}`, details: { ...problem.details, member } }
}
