/**
 * `berth plan get`: shows one plan, with what its committed options save.
 */
import { Effect } from "effect"
import { recentCatalogue } from "../../catalogue/ImageList.ts"
import { command } from "../command.ts"
import { argument, text } from "../../commandLine/Parameter.ts"
import { PlanNotFound } from "../../failure/CliFailure.ts"
import { printOne } from "../../output/print.ts"
import { planCard, plansOf } from "../../records/plan.ts"
import { client } from "../../settings/client.ts"
import { namesOf } from "@berthkit/core/domain/Plan"

export const get = command(
  {
    plan: argument("PLAN", text(""), "Plan, see berth plan list")
  },
  Effect.fnUntraced(function* ({ plan: wanted }) {
    const plans = plansOf((yield* recentCatalogue).images)
    const isNamed = (name: string) => name.toLowerCase() === wanted.toLowerCase()
    const found =
      plans.find(({ plan }) => isNamed(plan)) ?? plans.find(({ slugs }) => slugs.some(({ slug }) => isNamed(slug)))
    if (found === undefined) return yield* new PlanNotFound({ plan: wanted, plans: plans.flatMap(namesOf) })
    yield* printOne(planCard, found)
  }),
  client
)
