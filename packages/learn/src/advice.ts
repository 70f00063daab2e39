/**
 * Derives advice from the observations: which settings suit a client of this service (such as how long to wait), and how to learn what a
 * probe cannot show.
 */
import type { Behaviour, Ranges } from "@berthkit/profile/Profile"
import { middlesOf } from "@berthkit/profile/values"

export interface Advice {
  /** The setting, as users type it. */
  readonly setting: string
  readonly because: string
}

/** The value that this share of the sorted samples does not exceed. */
export const quantile = (sorted: ReadonlyArray<number>, share: number): number => {
  const at = share * (sorted.length - 1)
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at % 1)
}

const seconds = (millis: number): string => `${Math.round(millis / 1000)} s`

/** A safe timeout in whole minutes: three times `millis`, the time in which nearly all nodes were ready or gone. */
const timeoutFor = (millis: number): string => {
  const minutes = Math.max(1, Math.ceil((3 * millis) / 60_000))
  return `${minutes}m`
}

export const adviceFrom = ({
  clockSkewMillis,
  ghostMillis,
  paging,
  provisioningMillis,
  terminationMillis,
  window
}: Behaviour): ReadonlyArray<Advice> => {
  const advice: Array<Advice> = []
  const wait = (ranges: Ranges | undefined, what: string, command: string) => {
    if (ranges === undefined) return
    const samples = middlesOf(ranges)
    const p95 = quantile(samples, 0.95)
    const counted = samples.length === 1 ? "one node" : `${samples.length} nodes`
    advice.push({
      setting: `${command} --timeout ${timeoutFor(p95)}`,
      because: `${what} p95 ${seconds(p95)}, of ${counted}`
    })
  }
  const isPlain = paging.order === "ascending" && paging.pastTheEnd === "empty"
  if (paging.tooLarge === "capped") {
    advice.push({
      setting: `perPage: ${paging.maximumSize ?? paging.defaultSize ?? 20}`,
      because: `longer pages are capped at ${paging.maximumSize ?? "less"} nodes, so leave exact as it is`
    })
  } else if (isPlain && paging.maximumSize === 100) {
    advice.push({
      setting: "exact: false",
      because: "safe: pages are never capped, ascend by id and end with an empty one"
    })
  }
  if (paging.order === "descending") {
    advice.push({
      setting: "exact: true",
      because: "lists do not ascend by id, so pages shift while nodes are created"
    })
  }
  wait(provisioningMillis, "provisioning", "berth node create --wait")
  wait(terminationMillis, "termination", "berth node delete --wait")
  const longest = ghostMillis?.at(-1) ?? 0
  if (longest > 0) {
    advice.push({
      setting: "berth-watch run --grace " + `${Math.max(1, Math.ceil(longest / 1000))}s`,
      because: `the list shows nodes for ${seconds(longest)} after they can no longer be read`
    })
  }
  if (window.limit !== undefined && window.windowMillis !== undefined) {
    const perSecond = (window.limit * 1000) / window.windowMillis
    advice.push({
      setting: `berth-watch run --interval ${Math.max(1, Math.ceil(2 / perSecond))}s`,
      because: `${window.limit} requests per ${seconds(window.windowMillis)}: half of them for the daemon`
    })
  }
  if (window.limit !== undefined && window.algorithm === undefined && window.bucket !== true) {
    advice.push({
      setting: "berth-server learn --har FILE",
      because: "the kind of window is open: a recording that continues past ratelimit-reset shows it"
    })
  }
  if (clockSkewMillis !== undefined && clockSkewMillis !== 0) {
    advice.push({
      setting: "nothing to set",
      because: `the service's clock is ${seconds(Math.abs(clockSkewMillis))} off, and Berth counts by the service's`
    })
  }
  return advice
}
