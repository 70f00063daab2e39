/** An optional flag with a string. */
import type { Option } from "effect"
import { Flag } from "effect/cli"

export const textFlag = (name: string, metavar: string, description: string): Flag.Flag<Option.Option<string>> =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)
