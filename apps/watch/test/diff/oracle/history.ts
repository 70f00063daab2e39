/** Histories by number. Each has a random selection of faults, from a few to nearly all. */
import { chanceFrom } from "../Chance.ts"
import { judge } from "./judge.ts"
import { faultKinds } from "./Service.ts"
import { type History, processFaults, watch } from "./watching.ts"

export const historyOf = (seed: number): History => {
  const { below, happens, oneOf } = chanceFrom(seed)
  const share = oneOf([0.1, 0.3, 0.6])
  return {
    seed,
    size: oneOf([0, 1, 2, 3, 8, 20, 60]),
    perPage: oneOf([1, 5, 20, 100]),
    minutes: 10 + below(110),
    kinds: faultKinds.filter(() => happens(share)),
    process: processFaults.filter(() => happens(share))
  }
}

/** Complaints about the histories of these seeds, each with the history, to repeat it. */
export const complaintsOf = (fromSeed: number, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => historyOf(fromSeed + index)).flatMap((history) =>
    judge(watch(history)).map((complaint) => `${complaint} in ${JSON.stringify(history)}`)
  )
