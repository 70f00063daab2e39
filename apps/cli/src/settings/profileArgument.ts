/**
 * The argument that names a profile.
 */
import { Argument } from "effect/cli"

export const profileArgument = Argument.String("PROFILE").pipe(
  Argument.withMetavar(""),
  Argument.withDescription("Name of a profile, see berth profile list")
)
