/**
 * `berth plan get`: one plan, with what its committed options save.
 */
import { Plans } from "@berthkit/core/client/Plans"
import { Effect } from "effect"
import { command } from "../command.ts"
import { argument, text } from "../../commandLine/Parameter.ts"
import { PlanNotFound } from "../../failure/CliFailure.ts"
import { printOne } from "../../output/print.ts"
import { planCard } from "../../records/plan.ts"
import { client } from "../../settings/client.ts"

export const get = command(
  {
    plan: argument("PLAN", text(""), "Plan, see berth plan list")
  },
  Effect.fnUntraced(function* ({ plan: wanted }) {
    const plans = yield* (yield* Plans).list()
    const found = plans.find(({ plan }) => plan.toLowerCase() === wanted.toLowerCase())
    if (found === undefined) return yield* new PlanNotFound({ plan: wanted, plans: plans.map(({ plan }) => plan) })
    yield* printOne(planCard, found)
  }),
  client
)
