/**
 * The argument that names a profile.
 */
import { argument, text } from "../commandLine/Parameter.ts"

export const profileArgument = argument("PROFILE", text(""), "Name of a profile, see berth profile list")
