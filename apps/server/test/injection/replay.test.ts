import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { serve } from "../cli/berthServer.ts"
import { controlAt } from "../control/plane.ts"
import { attempt, nodeOf, requestAs } from "../http/service.ts"

const faults = [
  "--fault status:status=500:probability=0.3",
  "--fault field-missing:probability=0.3",
  "--fault field-type-changed:probability=0.3:operation=nodes.list",
  "--fault headers-garbage:probability=0.3",
  "--fault status-unknown:probability=0.3",
  "--fault create-lost-reply:every=3",
  "--fault duplicate-create:probability=0.5",
  "--fault list-shifts:after=2",
  "--fault garbage-bytes:probability=0.2:operation=nodes.get"
]

const calls: ReadonlyArray<readonly [method: string, path: string, body?: unknown]> = [
  ...["a", "b", "c", "d", "e", "f"].map((name) => ["POST", "/nodes/", nodeOf(name)] as const),
  ...["1", "2", "3"].map((page) => ["GET", `/nodes/?page_no=${page}&per_page=3`] as const),
  ...Array.from({ length: 12 }, () => ["GET", "/nodes/"] as const),
  ...Array.from({ length: 6 }, (_, index) => ["GET", `/nodes/${10_000 + index}/`] as const),
  ["POST", "/nodes/", { name: "bad" }],
  ["DELETE", "/nodes/1/"],
  ["GET", "/images/?os=ubuntu"],
  ["GET", "/nope/"]
]

/** Makes all calls to a new server; returns every byte of the answers, and the journal. */
const run = (seed: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const args = `--port 0 --clock frozen --scenario small --seed ${seed} ${faults.join(" ")}`.split(" ")
      const { account } = yield* serve(args)
      const answers = yield* Effect.forEach(calls, ([method, path, body]) =>
        Effect.map(attempt(...requestAs(account, method, path, { body })), ({ failure, headers, status, text }) =>
          failure === undefined ? [status, [...headers], text] : failure
        )
      )
      const { text: journal } = yield* controlAt(account, "GET", "/worlds/default/requests")
      return { answers, journal }
    })
  )

describe("the same seed and the same calls in two processes", () => {
  it.live("give the same bytes and the same journal, faults and all; another seed gives others", () =>
    Effect.gen(function* () {
      const [first, second, other] = yield* Effect.all([run(7), run(7), run(8)], { concurrency: 3 })
      expect(second.answers).toEqual(first.answers)
      expect(second.journal).toBe(first.journal)
      const { requests } = JSON.parse(first.journal)
      expect(requests.length).toBe(calls.length)
      const fired = new Set(requests.flatMap(({ faults }: { faults: ReadonlyArray<string> }) => faults))
      for (const fault of faults) expect(fired).toContain(/--fault ([a-z-]+)/.exec(fault)![1])
      expect(other.journal).not.toBe(first.journal)
    })
  )
})
