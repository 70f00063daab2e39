/**
 * Flags that are on or off. The parser takes a word like `1`, `yes` or `off` after such a flag for its value, so that
 * `node delete --yes 1 2` would delete node 2 alone; here a switch never takes a word.
 */
import { Flag } from "effect/cli"

/** Every switch, with the letter that is short for it. */
const switches = {
  backups: null,
  debug: null,
  "disable-password": null,
  "dry-run": null,
  force: null,
  "if-absent": null,
  include: "i",
  ipv6: null,
  "no-public-ip": null,
  wait: null,
  yes: "y"
} as const

/** A flag that is on or off; default off. */
export const switchFlag = (name: keyof typeof switches, description: string): Flag.Flag<boolean> => {
  const letter = switches[name]
  const flag = Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))
  return letter === null ? flag : Flag.withAlias(flag, letter)
}

const spellings = new Set(
  Object.entries(switches).flatMap(([name, letter]) => (letter === null ? [`--${name}`] : [`--${name}`, `-${letter}`]))
)

/** The arguments with every switch closed against the word that follows it; words after `--` stay as they are. */
export const closeSwitches = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--")
  return args.map((arg, i) => (spellings.has(arg) && (end === -1 || i < end) ? `${arg}=true` : arg))
}
