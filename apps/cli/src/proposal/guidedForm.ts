/**
 * The guided form of a create at a terminal: asks for what the flags leave out, and shows what there is to choose from. A wrong answer
 * is asked again; an empty one ends it.
 */
import { didYouMean, nearest } from "@berth/terminal/usage"
import { Effect } from "effect"
import type { Plan } from "@berth/core/domain/Plan"
import { Interrupted } from "../failure/CliFailure.ts"
import { rupees } from "../output/format.ts"
import { printNote } from "../output/Output.ts"
import { askLine } from "./confirm.ts"

/** Most choices that are shown. */
const maxChoices = 30

const askNonEmpty = Effect.fnUntraced(function* (question: string) {
  const answer = yield* askLine(question)
  return answer === "" ? yield* new Interrupted({ message: "Nothing was changed.", hint: "" }) : answer
})

const choose = Effect.fnUntraced(function* (
  what: string,
  choices: ReadonlyArray<string>,
  notes: ReadonlyArray<string>
) {
  const shown = choices
    .slice(0, maxChoices)
    .map((choice, i) => `  ${choice}${notes[i] === undefined ? "" : `  ${notes[i]}`}`)
  const more = choices.length > shown.length ? [`  … and ${choices.length - shown.length} more`] : []
  for (const line of [...shown, ...more]) yield* printNote(line)
  for (;;) {
    const answer = yield* askNonEmpty(`${what}:`)
    if (choices.includes(answer)) return answer
    yield* printNote(`There is no ${what.toLowerCase()} ${answer}${didYouMean(nearest(answer, choices))}`)
  }
})

/** What is given and what is asked for, together. */
export const guidedForm = Effect.fnUntraced(function* (
  given: { readonly name?: string; readonly plan?: string; readonly image?: string },
  plans: ReadonlyArray<Plan>
) {
  const name = given.name ?? (yield* askNonEmpty("Name:"))
  const offering = plans.filter(({ images }) => given.image === undefined || images.includes(given.image))
  const byPrice = (offering.length === 0 ? plans : offering).toSorted(
    (a, b) => (a.pricePerHourInr ?? Number.POSITIVE_INFINITY) - (b.pricePerHourInr ?? Number.POSITIVE_INFINITY)
  )
  const plan =
    given.plan ??
    (yield* choose(
      "Plan",
      byPrice.map((each) => each.plan),
      byPrice.map(({ pricePerHourInr }) => `₹${rupees(pricePerHourInr)} per hour`)
    ))
  const listed = plans.find((each) => each.plan === plan)
  const image =
    given.image ?? (yield* listed === undefined ? askNonEmpty("Image:") : choose("Image", listed.images, []))
  return { name, plan, image }
})
