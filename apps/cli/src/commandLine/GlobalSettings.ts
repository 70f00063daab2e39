/**
 * What the global flags of a command line say.
 */
import { Context } from "effect"
import { colours, formats, globalFlags } from "./globalFlags.ts"
import type { FlagDescription } from "./CommandDescription.ts"
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

const described = <A>(description: FlagDescription, parameter: Parameter<A>): Parameter<A> => ({
  ...parameter,
  description
})
const valued = <A>(description: FlagDescription, value: Value<A>) =>
  described(description, flag(description.name, value, ""))
const on = (description: FlagDescription) => described(description, switchFlag(description.name, ""))

export const globalParameters = {
  output: described(globalFlags.output, flagOr("output", oneOf(formats, ""), "", "table")),
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

/** The settings of a run. `quiet` and `color` were read before (`rawFlag.ts`), since an error is printed with them too. */
export class GlobalSettings extends Context.Service<GlobalSettings, Values<typeof globalParameters>>()(
  "@berth/cli/commandLine/GlobalSettings"
) {}
