/**
 * The words of a command line as the values of a command's parameters, or what is wrong with them. Pure.
 */
import type { UsageProblem } from "@berthkit/terminal/usage"
import { Result } from "effect"
import type { FlagHelp } from "./CommandHelp.ts"
import type { Parameters, Values } from "./Parameter.ts"
import type { Words } from "./words.ts"

/** The flags among parameters. */
export const flagsOf = (parameters: Parameters): ReadonlyArray<FlagHelp> =>
  Object.values(parameters).flatMap(({ help, kind }) => (kind === "flag" ? [help] : []))

/** A fault of the command line of `name`. */
export const usageProblem = (name: string, message: string): UsageProblem => ({
  message,
  hint: `See ${name} --help.`
})

/** The values of parameters, in the order in which these are declared, and the operands that none of them takes. */
const readValues = <P extends Parameters>(parameters: P, words: Words, name: string) =>
  Result.gen(function* () {
    const values: Record<string, unknown> = {}
    let { operands } = words
    for (const [key, { help, kind, read }] of Object.entries(parameters)) {
      const taken = kind === "argument" ? operands.slice(0, help.repeatable ? operands.length : 1) : []
      operands = operands.slice(taken.length)
      const given = (words.flags.get(help) ?? []).filter((text) => text !== undefined)
      values[key] = yield* Result.mapError(read(kind === "argument" ? taken : given), (wrong) => {
        const what = kind === "flag" ? `--${help.name}` : help.name
        return usageProblem(name, wrong._tag === "Missing" ? `${name} needs ${what}.` : wrong.message)
      })
    }
    return { values: values as Values<P>, operands }
  })

/** The values of a command's parameters, and of the global flags; the first fault ends it. */
export const readCommand = <P extends Parameters, G extends Parameters>(
  parameters: P,
  globals: G,
  words: Words,
  name: string
): Result.Result<{ readonly values: Values<P>; readonly globals: Values<G> }, UsageProblem> =>
  Result.gen(function* () {
    const own = new Set(flagsOf(parameters))
    const given = Array.from(words.flags).sort(([a], [b]) => Number(own.has(a)) - Number(own.has(b)))
    for (const [flag, texts] of given) {
      if (texts.includes(undefined)) return yield* Result.fail(usageProblem(name, `--${flag.name} needs a value.`))
    }
    const { operands, values } = yield* readValues(parameters, words, name)
    if (operands.length > 0) {
      return yield* Result.fail(usageProblem(name, `${name} takes no further argument: ${operands.join(" ")}.`))
    }
    return { values, globals: (yield* readValues(globals, { ...words, operands: [] }, name)).values }
  })
