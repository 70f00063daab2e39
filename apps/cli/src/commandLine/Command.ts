/**
 * A command: its flags and arguments as data, and what it does with their values.
 */
import type { UsageProblem } from "@berth/terminal/usage"
import { Effect, type Layer, Result } from "effect"
import type { FlagDescription } from "./CommandDescription.ts"
import type { Parameters, Values } from "./Parameter.ts"
import type { Words } from "./words.ts"

export interface Command<in out P extends Parameters, out E, out R> {
  readonly parameters: P
  readonly run: (values: Values<P>) => Effect.Effect<void, E, R>
}

/** What can be told of a command without running it. */
export type Declared = Pick<Command<Parameters, unknown, unknown>, "parameters">

/** A command that does something; `layer`, which may depend on the values, is provided to it. */
export const command = <const P extends Parameters, E, R, ROut = never, E2 = never, RIn = never>(
  parameters: P,
  run: (values: Values<P>) => Effect.Effect<void, E, R>,
  layer?: Layer.Layer<ROut, E2, RIn> | ((values: Values<P>) => Layer.Layer<ROut, E2, RIn>)
): Command<P, E | E2, Exclude<R, ROut> | RIn> => ({
  parameters,
  run: (values) =>
    (layer === undefined
      ? run(values)
      : Effect.provide(run(values), typeof layer === "function" ? layer(values) : layer)) as Effect.Effect<
      void,
      E | E2,
      Exclude<R, ROut> | RIn
    >
})

/** The flags among parameters. */
export const flagsOf = (parameters: Parameters): ReadonlyArray<FlagDescription> =>
  Object.values(parameters).flatMap(({ description, kind }) => (kind === "flag" ? [description] : []))

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
    for (const [key, { description, kind, read }] of Object.entries(parameters)) {
      const taken = kind === "argument" ? operands.slice(0, description.repeatable ? operands.length : 1) : []
      operands = operands.slice(taken.length)
      const given = (words.flags.get(description) ?? []).filter((text) => text !== undefined)
      values[key] = yield* Result.mapError(read(kind === "argument" ? taken : given), (wrong) => {
        const what = kind === "flag" ? `--${description.name}` : description.name
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
