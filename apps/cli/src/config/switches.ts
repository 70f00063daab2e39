/**
 * Flags that are on or off. The parser takes a word like `1`, `yes` or `off` after such a flag for its value, so that
 * `node delete --yes 1 2` would delete node 2 alone; here a switch never takes a word.
 */

const switches = new Set([
  "--backups",
  "--debug",
  "--disable-password",
  "--dry-run",
  "--include",
  "-i",
  "--ipv6",
  "--no-public-ip",
  "--saved-image",
  "--wait",
  "--yes",
  "-y"
])

/** The arguments with every switch closed against the word that follows it; after `--` all words are what they are. */
export const closeSwitches = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.map((arg, i) => (switches.has(arg) && (end === -1 || i < end) ? `${arg}=true` : arg))
}
