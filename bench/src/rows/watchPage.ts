/**
 * Measures what an unchanged page costs the daemon: decoding and diff against parsing the JSON. There are 100 000 nodes, more than any
 * cache of the processor holds.
 */
import { Result } from "effect"
import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import { many } from "@berthkit/core/client/call/Operation"
import { diff } from "@berthkit/watch/diff/diff"
import type { Observation } from "@berthkit/watch/diff/Observation"
import { defaultRules, makeSnapshot, unwatched } from "@berthkit/watch/diff/Snapshot"
import { threadCpuMillis } from "@berthkit/testing/threadCpu"
import { variedNode } from "../listedNode.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const nodes = 100_000
const pageSize = 100
const pages = nodes / pageSize

const decode = many(nodeFromWire)

const bodyOf = (page: number): string => {
  const data = Array.from({ length: pageSize }, (_, i) => variedNode(page * pageSize + i))
  return JSON.stringify({ message: "Success", code: 200, data, errors: {} })
}

/** Each page is parsed again, as in a call, so that no string is already in the caches. A pair is one whole sweep. */
export const watchDiffRow = (): Row => {
  const bodies = Array.from({ length: pages }, (_, page) => bodyOf(page))
  let order = 0
  const now = () => ({
    order: ++order,
    atMillis: Date.now(),
    monotonicMillis: performance.now(),
    serviceMillis: null
  })
  const { apply, snapshot } = makeSnapshot(unwatched, { fingerprint: null, begun: now() })
  const observe = (observation: Observation): number => {
    const difference = diff(snapshot, observation, defaultRules)
    apply(difference)
    return difference.facts.length
  }
  let sweep = 0
  const measure = () => {
    const begun = now()
    sweep++
    let parsing = 0
    let reading = 0
    for (const body of bodies) {
      const asked = now()
      const startedAt = threadCpuMillis()
      const parsed = JSON.parse(body)
      const parsedAt = threadCpuMillis()
      const read = Result.getOrThrow(decode(parsed.data))
      observe({ _tag: "PageRead", asked, answered: now(), sweep, isEnd: false, nodes: read, unreadable: [] })
      parsing += parsedAt - startedAt
      reading += threadCpuMillis() - parsedAt
    }
    const startedAt = threadCpuMillis()
    const end = { asked: begun, answered: now(), sweep, requests: pages, listed: nodes, nameless: 0 }
    const facts = observe({ _tag: "SweepCompleted", ...end })
    reading += threadCpuMillis() - startedAt
    if (facts > 0 && sweep > 2) throw new Error(`a quiet sweep reported ${facts} events`)
    return { subject: reading / pages, baseline: parsing / pages }
  }
  // The baseline takes two sweeps; two more compile the code.
  for (let i = 0; i < 4; i++) measure()
  if (snapshot.nodes.size !== nodes) throw new Error(`${snapshot.nodes.size} of ${nodes} nodes are known`)
  return {
    name: "daemon, quiet page of 100: decode and diff",
    subject: "decode and diff",
    baseline: "JSON.parse",
    unit: "ms",
    targets: [ratioAtMost(1.5)],
    pairs: 9,
    measure
  }
}
