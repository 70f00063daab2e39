/**
 * `berth apply` and `berth destroy` that are killed at each of their requests and run again, with dates in lists and, as today, without
 * them. The rules of the model hold after each command, and in the end the right nodes are there.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { play, warmUp } from "./model/histories.ts"
import { type History, scriptOf, type Step } from "./model/steps.ts"

beforeAll(warmUp)

/** No command here sends more requests than this before it is killed. */
const maxRequests = 14

const shapes = {
  "with dates in lists": {},
  "without dates in lists": { weather: { undatedLists: true } }
} as const

const ends = ["kill", "restart"] as const

const minute = { step: "wait", seconds: 60 } as const
/** After this, the service can no longer process a create that never arrived. */
const untilOver = { step: "wait", seconds: 660 } as const

/** Plays the history. Its last command must find that everything matches the file. */
const holds = async (history: History) => {
  const { broken, ran } = await play(history)
  const text = ran.map(({ args, code, stderr }) => `berth ${args.join(" ")}\n${stderr}exit ${code}`).join("\n")
  assert.deepStrictEqual(broken, [], `${text}\n${scriptOf(history)}`)
  assert.strictEqual(ran.at(-1)?.code, 0, text)
}

describe.each(Object.entries(shapes))("a fleet on a service %s", (_, shape) => {
  const apply = { step: "apply", maxDeletes: 5, ...shape } as const
  const destroy = { step: "destroy", ...shape } as const
  const commands: Readonly<
    Record<string, readonly [before: ReadonlyArray<Step>, killed: typeof apply | typeof destroy]>
  > = {
    "an apply that creates": [[], apply],
    "an apply that replaces": [
      [apply, { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } }],
      { ...apply, replace: true } as typeof apply
    ],
    "a destroy": [[apply], destroy]
  }
  for (const [what, [before, command]] of Object.entries(commands)) {
    it.each(ends)(`ends with the right nodes after ${what} was killed at any request: %s`, async (how) => {
      for (let atRequest = 0; atRequest < maxRequests; atRequest++) {
        for (const isSent of [false, true]) {
          const killed = { ...command, cut: { atRequest, isSent, how } } as Step
          const check = command.step === "destroy" ? destroy : ({ step: "diff", ...shape } as const)
          await holds([...before, killed, minute, command, untilOver, command, check])
        }
      }
    })
  }
})
