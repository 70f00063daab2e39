/**
 * The flags that name a service, for programs whose command line is read by `effect/cli`.
 */
import type { Option } from "effect"
import { Flag } from "effect/cli"
import { addressFlag } from "./Connection.ts"
import { variables } from "./variables.ts"

/** The service's address on the command line. */
export const baseUrlFlag: Flag.Flag<Option.Option<string>> = Flag.String(addressFlag).pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription(`The service's address; default $${variables.baseUrl}`),
  Flag.optional
)

/** Whether credentials may cross a network in plain text. */
export const allowHttpFlag: Flag.Flag<boolean> = Flag.Boolean("allow-http").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Send the credentials over plain http, where anyone on the way can read them"),
  Flag.withDefault(false)
)
