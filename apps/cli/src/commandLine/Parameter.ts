/**
 * The flags and arguments of a command, and the flags that all commands have, as plain data: their help and completions, and their parsers.
 */
import { type DurationBounds, durationValue } from "@berthkit/terminal/duration"
import { didYouMean, nearest, type UsageProblem } from "@berthkit/terminal/usage"
import { wholeNumberText } from "@berthkit/terminal/wholeNumber"
import { Context, type Duration, Option, Result } from "effect"
import type { FlagHelp } from "./CommandHelp.ts"
import { colours, formats, globalFlags } from "./globalFlags.ts"
import { isOn, switchLetters, type Words, wordsOf } from "./words.ts"

/** What is wrong with a parameter: either its value is missing, or a sentence says what is wrong. */
type Wrong = { readonly _tag: "Missing" } | { readonly _tag: "Invalid"; readonly message: string }

/** A flag or an argument. */
export interface Parameter<out A> {
  readonly kind: "flag" | "argument"
  readonly help: FlagHelp
  /** Parses the strings that the command line has for this parameter. */
  readonly read: (texts: ReadonlyArray<string>) => Result.Result<A, Wrong>
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>

/** The values of parameters. */
export type Values<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer A> ? A : never }

/** A parser of one text. */
export interface Value<out A> {
  /** The placeholder in help text. */
  readonly metavar: string
  readonly choices?: ReadonlyArray<string>
  /** Whether the text may be a comma-separated list. */
  readonly isList?: boolean
  /** The value of a flag that is given without one; absent if the flag requires a value. */
  readonly bare?: string
  /** Whether the flag accepts an empty value. */
  readonly mayBeEmpty?: true
  readonly parse: (text: string) => Option.Option<A>
  /** What is expected, as the end of a sentence; absent if `choices` lists it. */
  readonly expected?: (text: string) => string
}

/** A string, by default without restrictions. */
export const text = (
  metavar: string,
  accepts: (text: string) => boolean = () => true,
  expected = ""
): Value<string> => ({
  metavar,
  parse: Option.liftPredicate(accepts),
  expected: () => expected
})

/** A whole number from `min` to `max`, by default unbounded. */
export const wholeNumber = (min?: number, max?: number, metavar = "N"): Value<number> => {
  const { expected, parse } = wholeNumberText(min, max)
  return { metavar, parse, expected: () => expected }
}

/** A duration, by default unbounded. */
export const duration = (bounds?: DurationBounds): Value<Duration.Duration> => {
  const { expected, parse } = durationValue(bounds)
  return { metavar: "DURATION", parse, expected: () => expected }
}

/** One of several words. */
export const oneOf = <const C extends string>(choices: ReadonlyArray<C>, metavar: string): Value<C> => ({
  metavar,
  choices,
  parse: Option.liftPredicate((text: string): text is C => (choices as ReadonlyArray<string>).includes(text)) as (
    text: string
  ) => Option.Option<C>
})

/** A comma-separated list of one or more of several words. */
export const someOf = (choices: ReadonlyArray<string>, metavar: string): Value<ReadonlyArray<string>> => {
  const wrongIn = (words: ReadonlyArray<string>) => words.find((word) => !choices.includes(word))
  const listed = (text: string) => {
    const words = wordsOf(text)
    return words.length === 0 ? [text] : words
  }
  return {
    metavar,
    choices,
    isList: true,
    parse: (text) => Option.liftPredicate(listed(text), (words) => wrongIn(words) === undefined),
    expected: (text) => {
      const words = listed(text)
      return words.length < 2 ? "" : `${wrongIn(words)} is none of ${choices.join(", ")}`
    }
  }
}

/** A sentence about an invalid value. */
const invalid = (what: string, given: string, { choices = [], expected }: Value<unknown>): Wrong => {
  const end = expected?.(given) ?? ""
  const near = nearest(given, choices)
  const message =
    given === ""
      ? `${what} needs a value.`
      : end !== ""
        ? `${what} cannot be ${given}: ${end}.`
        : near.length === 0
          ? `${what} cannot be ${given}: expected ${choices.join(", ")}.`
          : `${what} cannot be ${given}${didYouMean(near)}`
  return { _tag: "Invalid", message }
}

const missing: Result.Result<never, Wrong> = Result.fail({ _tag: "Missing" })

/** The fields of a parameter's help that do not come from its `Value`. */
interface Shown extends Pick<FlagHelp, "name" | "description"> {
  readonly aliases?: ReadonlyArray<string>
}

const parameter = <A, B>(
  kind: Parameter<A>["kind"],
  { aliases = [], ...shown }: Shown,
  value: Value<A>,
  { repeatable = false, required = false }: { readonly repeatable?: boolean; readonly required?: boolean },
  combine: (values: ReadonlyArray<A>) => Result.Result<B, Wrong>
): Parameter<B> => {
  const { bare, choices = [], isList = false, mayBeEmpty = false, metavar } = value
  const what = kind === "flag" ? `--${shown.name}` : shown.name
  const one = (text: string): Result.Result<A, Wrong> =>
    kind === "flag" && !mayBeEmpty && text.trim() === ""
      ? Result.fail({ _tag: "Invalid", message: `${what} needs a value.` })
      : Result.fromOption(value.parse(text), () => invalid(what, text, value))
  return {
    kind,
    help: {
      ...shown,
      choices,
      required,
      repeatable,
      aliases,
      metavar,
      ...(bare !== undefined && { bare }),
      list: isList
    },
    read: (texts) => Result.flatMap(Result.all(texts.map(one)), combine)
  }
}

const first = <A>([value]: ReadonlyArray<A>): Result.Result<A | undefined, Wrong> => Result.succeed(value)

/** A flag with a value. The result is undefined if the flag is absent. */
export const flag = <A>(name: string, value: Value<A>, description: string, ...aliases: ReadonlyArray<string>) =>
  parameter("flag", { name, description, aliases }, value, {}, first)

/** A flag with a default value. */
export const flagOr = <A>(name: string, value: Value<A>, description: string, otherwise: A): Parameter<A> =>
  parameter("flag", { name, description }, value, {}, ([given]) => Result.succeed(given ?? otherwise))

/** A flag that may be repeated. */
export const flags = <A>(name: string, value: Value<A>, description: string, ...aliases: ReadonlyArray<string>) =>
  parameter("flag", { name, description, aliases }, value, { repeatable: true }, Result.succeed)

/** A flag that is on or off. It never consumes the next word. */
export const switchFlag = (name: string, description: string): Parameter<boolean> => {
  const letter = switchLetters[name]
  const value: Value<boolean> = {
    metavar: "",
    parse: (text) => Option.fromUndefinedOr(isOn.get(text)),
    expected: () => "expected true or false"
  }
  const aliases = letter === undefined ? [] : [letter]
  const found = parameter("flag", { name, description, aliases }, value, {}, ([given]) =>
    Result.succeed(given ?? false)
  )
  return { ...found, help: { ...found.help, metavar: null } }
}

/** A switch that may also be set to a word, as in `--wait=ssh`. It never consumes the next word. */
export const switchOr = <const C extends string>(
  name: string,
  word: C,
  description: string
): Parameter<C | boolean> => {
  const value: Value<C | boolean> = {
    metavar: "",
    parse: (text) => (text === word ? Option.some(word) : Option.fromUndefinedOr(isOn.get(text))),
    expected: () => `expected true, false or ${word}`
  }
  const found = parameter("flag", { name, description }, value, {}, ([given]) => Result.succeed(given ?? false))
  return { ...found, help: { ...found.help, metavar: null } }
}

/** A required argument. */
export const argument = <A>(name: string, value: Value<A>, description = ""): Parameter<A> =>
  parameter("argument", { name, description }, value, { required: true }, ([given]) =>
    given === undefined ? missing : Result.succeed(given)
  )

export const optionalArgument = <A>(name: string, value: Value<A>, description: string) =>
  parameter("argument", { name, description }, value, {}, first)

/** All remaining arguments, at least `min`. */
export const argumentsFrom = <A>(min: 0 | 1, name: string, value: Value<A>, description = "") =>
  parameter("argument", { name, description }, value, { repeatable: true, required: min > 0 }, (values) =>
    values.length < min ? missing : Result.succeed(values)
  )

/** The flags among parameters. */
export const flagsOf = (parameters: Parameters): ReadonlyArray<FlagHelp> =>
  Object.values(parameters).flatMap(({ help, kind }) => (kind === "flag" ? [help] : []))

/** A usage error of the command `name`. */
export const usageProblem = (name: string, message: string): UsageProblem => ({
  message,
  hint: `See ${name} --help.`
})

/** Parses parameters in the order of their declaration. Returns their values, and the operands that are left. */
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

/** Parses the parameters of a command and the global flags; fails with the first fault. */
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

/** Drops undefined fields, for objects in which an absent flag must have no key. */
export const withoutUndefined = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]?: Exclude<A[K], undefined>
  }

/**
 * Gives a parameter the description object of the global flag. The parser stores parsed values under that object, so an equal copy would
 * not find them.
 */
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
  project: valued(
    globalFlags.project,
    text("", (number) => /^[1-9]\d{0,14}$/.test(number), "expected the number of a project")
  ),
  location: valued(globalFlags.location, text("")),
  userAgent: valued(globalFlags.userAgent, text("")),
  stateUrl: valued(globalFlags.stateUrl, text("")),
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

/** The global settings of a run. `quiet` and `color` were already read by `rawFlags`, because errors are printed with them. */
export class GlobalSettings extends Context.Service<GlobalSettings, Values<typeof globalParameters>>()(
  "@berthkit/cli/commandLine/GlobalSettings"
) {}
