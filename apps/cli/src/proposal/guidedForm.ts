/**
 * The interactive form of a create. It asks for everything that the flags leave out, and lists the choices. After an invalid answer it asks
 * again. An empty answer takes the first choice, which is the cheapest. Nothing is created before the user confirms everything.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect } from "effect"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { Plan, PlanPrice } from "@berthkit/core/domain/Plan"
import { Interrupted } from "../failure/CliFailure.ts"
import { width } from "../output/cells.ts"
import { disk, memory } from "../output/format.ts"
import { printNote } from "../output/Output.ts"
import { pricePerHourText } from "../records/price.ts"
import { askLine } from "./confirm.ts"
import { imageOf } from "./offer.ts"

/** Maximum number of choices that are shown. */
const maxChoices = 30

const askNonEmpty = Effect.fnUntraced(function* (question: string) {
  const answer = yield* askLine(question)
  return answer === "" ? yield* new Interrupted({ message: "Nothing was changed.", hint: "" }) : answer
})

/** A choice with notes about it. */
type Choice = readonly [word: string, ...notes: ReadonlyArray<string>]

/** The numbered choices, in columns. */
const linesOf = (choices: ReadonlyArray<Choice>): ReadonlyArray<string> => {
  const rows = choices.map((choice, index) => [`${index + 1})`, ...choice])
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? ""))))
  return rows.map((row) =>
    row
      .map((text, column) => text + " ".repeat(Math.max(0, (widths[column] ?? 0) - width(text))))
      .join("  ")
      .trimEnd()
  )
}

const choose = Effect.fnUntraced(function* (what: string, choices: ReadonlyArray<Choice>) {
  for (const line of linesOf(choices.slice(0, maxChoices))) yield* printNote(`  ${line}`)
  if (choices.length > maxChoices) yield* printNote(`  … and ${choices.length - maxChoices} more`)
  const words = choices.map(([word]) => word)
  const [first] = words
  const byDefault = first === undefined ? "" : ` [${first}]`
  for (;;) {
    const answer = yield* askLine(`${what}, by name or number${byDefault}:`)
    if (answer === "" && first !== undefined) return first
    if (words.includes(answer)) return answer
    const numbered = /^\d+$/.test(answer) ? words[Number(answer) - 1] : undefined
    if (numbered !== undefined) return numbered
    yield* printNote(`There is no ${what.toLowerCase()} ${answer}${didYouMean(nearest(answer, words))}`)
  }
})

const priceOr = (price: PlanPrice | Plan): string => pricePerHourText(price) ?? "price not known"

const planChoice = (plan: Plan, price: PlanPrice | Plan): Choice => {
  const { diskGb, memoryMib, vcpus } = plan
  return [plan.plan, `${vcpus ?? "-"} vCPU`, memory(memoryMib), disk(diskGb), priceOr(price)]
}

const lowest = ({ minPricePerHourInr }: Plan | PlanPrice) => minPricePerHourInr ?? Number.POSITIVE_INFINITY

/** Cheapest first; unknown prices come last. */
const cheapestFirst = (a: Plan | PlanPrice, b: Plan | PlanPrice): number =>
  lowest(a) === lowest(b) ? 0 : lowest(a) - lowest(b)

/** The given values, completed with the answers. */
export const guidedForm = Effect.fnUntraced(function* (given: Partial<NodeSpec>, plans: ReadonlyArray<Plan>) {
  const name = given.name ?? (yield* askNonEmpty("Name:"))
  const wanted = given.image === undefined ? undefined : String(given.image)
  const offering = plans.filter(({ images }) => wanted === undefined || images.includes(wanted))
  const priceWith = (plan: Plan) =>
    plan.prices.find(({ images }) => wanted !== undefined && images.includes(wanted)) ?? plan
  const choices = (offering.length === 0 ? plans : offering)
    .toSorted((a, b) => cheapestFirst(priceWith(a), priceWith(b)))
    .map((each) => planChoice(each, priceWith(each)))
  const plan = given.plan ?? (yield* choose("Plan", choices))
  if (given.image !== undefined) return { ...given, name, plan, image: given.image }
  const listed = plans.find((each) => each.plan === plan)
  const images = (listed?.prices ?? [])
    .toSorted(cheapestFirst)
    .flatMap((price) => price.images.map((image): Choice => [image, priceOr(price)]))
  const image = imageOf(yield* images.length === 0 ? askNonEmpty("Image:") : choose("Image", images))
  return { ...given, name, plan, image }
})
