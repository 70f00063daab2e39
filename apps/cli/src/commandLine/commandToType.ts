/**
 * The commands that berth suggests: as a shell takes them, and for the account that the command line names, since typed without its flags they
 * would act on another one, or be refused by a gateway.
 */
import type { rawFlags } from "./words.ts"

/** The argument as a shell takes it back. */
export const quoted = (argument: string): string =>
  /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`

/** Commands that are the same for every account, or that name theirs by themselves. */
const withoutAccount: ReadonlySet<string> = new Set(["auth", "profile", "schema", "completion"])

/** Adds the flags that name the account, and the way to it, to the commands in a hint. `commands` are the first words of all that there are. */
export const namingAccount = (
  { allowHttp, baseUrl, location, profile, project, userAgent }: Partial<ReturnType<typeof rawFlags>>,
  commands: ReadonlyArray<string>
): ((hint: string) => string) => {
  const named = { profile, "base-url": baseUrl, project, location, "user-agent": userAgent }
  const flags = [
    ...Object.entries(named).map(([name, value]) => (value === undefined ? "" : `--${name} ${quoted(value)} `)),
    ...(allowHttp === true ? ["--allow-http "] : [])
  ].join("")
  if (flags === "") return (hint) => hint
  const names = commands.filter((name) => !withoutAccount.has(name)).join("|")
  // A quoted word, which is a name; or the beginning of a command that acts on an account, which its help does not.
  const suggested = new RegExp(`(?<=[ =])'(?:[^']|'\\\\'')*'|\\bberth (?=(?:${names})\\b(?![\\w ]*--help))`, "g")
  return (hint) => hint.replace(suggested, (found) => (found.startsWith("berth") ? found + flags : found))
}
