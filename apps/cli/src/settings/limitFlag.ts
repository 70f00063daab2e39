/**
 * The flag that ends a list early. `output/printLimited.ts` states what it leaves out.
 */
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Flag } from "effect/cli"

/** `what` is listed. */
export const limitFlag = (what: string) =>
  wholeNumberFlag("limit", 1).pipe(Flag.withDescription(`Maximum number of ${what}`), Flag.optional)
