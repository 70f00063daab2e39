/**
 * The share of the allowance that a client leaves to other programs and to people, 0 to 1, beside what its lanes leave to each other. A
 * client that acts for somebody who is not there keeps more back than one that a person waits for.
 */
import { Context } from "effect"

export const KeptShare = Context.Reference<number>("@berthkit/core/client/allowance/KeptShare", {
  defaultValue: () => 0
})
