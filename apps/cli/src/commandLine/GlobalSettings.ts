/**
 * Parses the values of the global flags.
 */
import { Context } from "effect"
import { colours, formats, globalFlags } from "./globalFlags.ts"
import type { FlagHelp } from "./CommandHelp.ts"
import {
  duration,
  flag,
  flagOr,
  oneOf,
  type Parameter,
  switchFlag,
  text,
  type Value,
  type Values
} from "./Parameter.ts"

/**
 * Gives a parameter the description object of the global flag. The parser stores parsed values under that object, so an equal copy would
 * not find them.
 */
const helped = <A>(help: FlagHelp, parameter: Parameter<A>): Parameter<A> => ({ ...parameter, help })
const valued = <A>(help: FlagHelp, value: Value<A>) => helped(help, flag(help.name, value, ""))
const on = (help: FlagHelp) => helped(help, switchFlag(help.name, ""))

export const globalParameters = {
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
