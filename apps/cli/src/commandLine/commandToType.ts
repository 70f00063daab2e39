/**
 * Prepares the commands that berth suggests. They are quoted for a shell and have the account flags of the current command line. Without
 * these flags the commands would act on another account, or a gateway would refuse them.
 */
import { mayHoldPassword } from "@berthkit/terminal/postgresAddress"
import { quoted } from "@berthkit/terminal/quoted"
import type { rawFlags } from "./words.ts"

/** Commands that need no account, or that name the account in an argument. */
const withoutAccount: ReadonlySet<string> = new Set(["auth", "profile", "schema", "completion"])

/** Adds the account and connection flags to the commands in a hint. `commands` lists the first word of every berth command. */
export const namingAccount = (
  { allowHttp, baseUrl, location, profile, project, stateUrl, userAgent }: Partial<ReturnType<typeof rawFlags>>,
  commands: ReadonlyArray<string>
): ((hint: string) => string) => {
  // An address that is refused because of its password is not repeated in the hint.
  const shownState = stateUrl === undefined || mayHoldPassword(stateUrl) ? undefined : stateUrl
  const named = { profile, "base-url": baseUrl, project, location, "user-agent": userAgent, "state-url": shownState }
  const flags = [
    ...Object.entries(named).map(([name, value]) => (value === undefined ? "" : `--${name} ${quoted(value)} `)),
    ...(allowHttp === true ? ["--allow-http "] : [])
  ].join("")
  if (flags === "") return (hint) => hint
  const names = commands.filter((name) => !withoutAccount.has(name)).join("|")
  // Matches quoted words, which are skipped, and the start of any command that acts on an account (not its --help).
  const suggested = new RegExp(`(?<=[ =])'(?:[^']|'\\\\'')*'|\\bberth (?=(?:${names})\\b(?![\\w ]*--help))`, "g")
  return (hint) => hint.replace(suggested, (found) => (found.startsWith("berth") ? found + flags : found))
}
