/**
 * What the account is called in events. The service has no name for it, and its key must not show.
 */
import { accountName } from "../config/Config.ts"
import { misused } from "../process/CommandFailed.ts"
import { readVariable } from "@berthkit/terminal/Connection"
import { Effect, Option, Redacted } from "effect"
import { textFlag } from "./textFlag.ts"

const variable = "BERTH_ACCOUNT"

/** What to do about a name that no account may have. */
export const nameHint = "Use 1 to 64 letters, digits, dots, @, - or _, without _ at its beginning."

export const accountFlag = textFlag(
  "account",
  "NAME",
  `Name of the account in events (or ${variable}; default default)`
)

/** The name that the flag gives, or else the environment. */
export const readAccount = Effect.fnUntraced(function* (flag: Option.Option<string>) {
  const named = Option.isSome(flag) ? flag : Option.map(yield* readVariable(variable), Redacted.value)
  const account = accountName(Option.getOrElse(named, () => "default"))
  if (account !== undefined) return account
  return yield* misused("The account name is not usable.", nameHint)
})
