/**
 * `pnpm --filter @berthkit/tests matrix [SEED]`: runs the whole matrix of trials of admission: the real client against the mock service in
 * virtual time. For each kind of window, allowance and neighbour, prints the worst result over all clock skews and numbers of callers.
 * Exits with 1 if a target is missed. Takes some minutes.
 */
import { Effect } from "effect"
import { type Outcome, run, type Trial } from "./Trial.ts"

const minute = 60_000
const seed = Number(process.argv[2] ?? 7)
const windows = 4

const allowances = [
  [1200, 60 * minute],
  [300, 10 * minute],
  [100, minute]
] as const
const skews = [-5 * minute, 0, 5 * minute]
const callers = [1, 20, 200]

const percent = (share: number) => (100 * share).toFixed(1)

/** The worst value of each number. */
const worst = (outcomes: ReadonlyArray<Outcome>): Outcome => ({
  requests: outcomes.reduce((total, { requests }) => total + requests, 0),
  refusedCold: Math.max(...outcomes.map(({ refusedCold }) => refusedCold)),
  refusedSteady: Math.max(...outcomes.map(({ refusedSteady }) => refusedSteady)),
  used: Math.min(...outcomes.map(({ used }) => used)),
  pace: Math.min(...outcomes.map(({ pace }) => pace)),
  burst: Math.max(...outcomes.map(({ burst }) => burst))
})

const lines = [
  "| window | beside | requests | 429 cold | 429 steady | used % | pace % | burst % |",
  "|---|---|---|---|---|---|---|---|"
]
let met = true
for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
  for (const [limit, windowMillis] of allowances) {
    for (const beside of ["no other client", "another client", "a rude program"] as const) {
      const outcomes: Array<Outcome> = []
      for (const skewMillis of skews) {
        for (const many of callers) {
          const trial: Trial = {
            allowance: { algorithm, limit, windowMillis },
            beside,
            callers: many,
            skewMillis,
            windows,
            seed
          }
          outcomes.push(await Effect.runPromise(run(trial)))
        }
      }
      const { burst, pace, refusedCold, refusedSteady, requests, used } = worst(outcomes)
      // Nothing can be guaranteed next to a program that ignores its replies.
      if (beside !== "a rude program") met &&= refusedSteady === 0 && refusedCold <= 1 && used >= 0.97 && burst <= 0.1
      lines.push(
        `| ${algorithm} ${limit} / ${windowMillis / minute} min | ${beside} | ${requests} | ${refusedCold} | ${refusedSteady} | ${percent(used)} | ${percent(pace)} | ${percent(burst)} |`
      )
    }
  }
}
process.stdout.write(`${lines.join("\n")}\n\n${met ? "All targets met." : "Targets missed."}\n`)
process.exitCode = met ? 0 : 1
