import { kinds } from "./windows.ts"
import { simulate } from "./Simulation.ts"
for (const [limit, windowMillis] of [[1200, 3600_000], [300, 600_000], [100, 60_000], [60,60_000]] as const)
  for (const kind of kinds)
    for (const other of ["none", "careful", { perWindow: limit / 4 }] as const)
      for (const callers of [1, 20, 200]) {
        const outs = [-300_000, 0, 300_000].map((skewMillis, i) => simulate({ kind, limit, windowMillis, skewMillis, callers, other, windows: 8, seed: 7 + i, reserve: 0 }))
        const o = outs[0]!
        console.log(`${limit}/${windowMillis/1000}s`.padEnd(12), kind.padEnd(8), JSON.stringify(other).padEnd(18), String(callers).padEnd(4), "used", outs.map(o=>(o.used * 100).toFixed(1)).join(" ").padEnd(18), "429", outs.map(o=>o.refusedAt.length).join(" ").padEnd(8), "burst", outs.map(o=>(o.burst * 100).toFixed(0)).join(" "), outs.flatMap(o=>o.refusedAt.slice(0,3)).map(x=>x.toFixed(2)).slice(0,6).join(","))
      }
