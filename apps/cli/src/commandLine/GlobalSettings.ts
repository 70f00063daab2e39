/**
 * The words of a command line as values, or what is wrong with them: those of a command's parameters, and the settings of a run, which the
 * global flags say.
 */
import type { UsageProblem } from "@berthkit/terminal/usage"
import { Context, Result } from "effect"
import { colours, formats, globalFlags } from "./globalFlags.ts"
import type { FlagHelp } from "./CommandHelp.ts"
import {
  duration,
  flag,
  flagOr,
  oneOf,
  type Parameter,
  type Parameters,
  switchFlag,
  text,
  type Value,
  type Values
} from "./Parameter.ts"
import type { Words } from "./words.ts"

/** A parameter with the description that the words were read by: its texts are found by that very object. */
const helped = <A>(help: FlagHelp, parameter: Parameter<A>): Parameter<A> => ({ ...parameter, help })
const valued = <A>(help: FlagHelp, value: Value<A>) => helped(help, flag(help.name, value, ""))
const on = (help: FlagHelp) => helped(help, switchFlag(help.name, ""))

const globalParameters = {
  output: helped(globalFlags.output, flagOr("output", oneOf(formats, ""), "", "table")),
  columns: valued(globalFlags.columns, text("")),
  sort: valued(globalFlags.sort, text("")),
  noHeader: on(globalFlags.noHeader),
  raw: on(globalFlags.raw),
  query: valued(globalFlags.query, text("")),
  baseUrl: valued(globalFlags.baseUrl, text("")),
  allowHttp: on(globalFlags.allowHttp),
  profile: valued(
    globalFlags.profile,
    text("", (name) => name.trim() !== "", "expected the name of a profile")
  ),
  deadline: valued(globalFlags.deadline, duration()),
  debug: on(globalFlags.debug),
  quiet: on(globalFlags.quiet),
  color: valued(globalFlags.color, oneOf(colours, ""))
}

/** The settings of a run. `quiet` and `color` were read before (`rawFlags`), since an error is printed with them too. */
export class GlobalSettings extends Context.Service<GlobalSettings, Values<typeof globalParameters>>()(
  "@berthkit/cli/commandLine/GlobalSettings"
) {}

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
export const readCommand = <P extends Parameters>(parameters: P, words: Words, name: string) =>
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
    return { values, globals: (yield* readValues(globalParameters, { ...words, operands: [] }, name)).values }
  })
