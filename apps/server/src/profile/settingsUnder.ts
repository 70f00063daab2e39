/**
 * The settings of worlds that behave as a profile has it. What was not observed stays as it was.
 */
import type { WorldSettings } from "../world/WorldSettings.ts"
import { canCount } from "../world/allowance.ts"
import { catalogueOf } from "./catalogueOf.ts"
import type { Profile } from "./Profile.ts"

/** A clock that is less than this off is on time: replies take a while. */
const minSkewMillis = 2_000

/** Durations as the lifecycle takes them, under this name; nothing where none were observed. */
const samplesAs = <Name extends string>(name: Name, samples: ReadonlyArray<number> = []) =>
  samples.length === 0 ? {} : { [name]: samples.map(Math.round).toSorted((a, b) => a - b) }

/** `realMillis` is now: a service whose clock is ahead begins ahead. */
export const settingsUnder = ({ behaviour }: Profile, base: WorldSettings, realMillis: number): WorldSettings => {
  const { catalogue, clockSkewMillis = 0, deletes, provisioningMillis, terminationMillis, window } = behaviour
  const rateLimit = {
    limit: window.limit ?? base.rateLimit.limit,
    windowMillis: window.windowMillis ?? base.rateLimit.windowMillis,
    algorithm: window.algorithm ?? base.rateLimit.algorithm
  }
  return {
    ...base,
    startAt: Math.abs(clockSkewMillis) < minSkewMillis ? base.startAt : realMillis + clockSkewMillis,
    lifecycle: {
      ...base.lifecycle,
      ...samplesAs("provisioningSamples", provisioningMillis),
      ...samplesAs("terminationSamples", terminationMillis)
    },
    rateLimit: canCount(rateLimit) ? rateLimit : { ...rateLimit, algorithm: "fixed-window" },
    deleteStyle: deletes === undefined ? base.deleteStyle : deletes.body ? "enveloped" : "documented",
    ...(catalogue !== undefined && { catalogue: catalogueOf(catalogue) ?? base.catalogue })
  }
}
