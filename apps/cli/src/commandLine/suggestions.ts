/**
 * Suggests commands and flags for an unknown word: the word of another tool, a similar spelling, or a name with the same first letter.
 */
import { nearest } from "@berthkit/terminal/usage"
import type { FlagHelp } from "./CommandHelp.ts"

/** For each command, the names that other tools use for it. */
const commands: Readonly<Record<string, ReadonlyArray<string>>> = {
  node: [
    "nodes",
    "server",
    "servers",
    "instance",
    "instances",
    "vm",
    "vms",
    "droplet",
    "droplets",
    "compute",
    "machine"
  ],
  "node list": ["ls", "ps", "list"],
  "node create": ["run", "launch", "create", "up", "new"],
  "node delete": ["rm", "delete", "destroy", "terminate", "down"],
  "node get": ["get", "show", "describe", "inspect"],
  image: ["images", "os", "template", "templates"],
  plan: ["plans", "size", "sizes", "flavor", "flavors", "types", "server-type"],
  commitment: ["commitments", "reservation", "reservations"],
  "auth login": ["signin", "authenticate", "configure", "init", "profile add", "profile create", "profile new"],
  "auth logout": ["signout"],
  "auth status": ["whoami", "status"],
  profile: ["profiles", "context", "config", "account", "accounts"],
  api: ["curl", "request", "raw", "rest"],
  limits: ["ratelimit", "rate-limit", "limit"],
  cost: ["costs", "billing", "price", "prices", "usage"],
  doctor: ["check", "diagnose", "debug", "env"],
  completion: ["completions", "autocomplete"],
  list: ["ls", "all", "index", "ps"],
  get: ["show", "describe", "inspect", "info", "view", "read"],
  create: ["new", "add", "launch", "run", "make", "up"],
  // Does not include `stop`, because in other tools a stopped node continues to exist.
  delete: ["rm", "remove", "destroy", "terminate", "del", "kill"],
  use: ["switch", "select", "set", "activate"],
  set: ["update", "change", "edit"],
  wait: ["await", "poll"]
}

/** For each flag, the names that other tools use for it. */
const flags: Readonly<Record<string, ReadonlyArray<string>>> = {
  "--output": ["format", "json", "yaml", "csv", "out", "wide", "j"],
  "--columns": ["fields", "cols"],
  "--sort": ["sort-by", "order", "order-by"],
  "--no-header": ["no-headers", "noheader", "noheaders"],
  "--state-url": ["database", "database-url", "state", "store", "backend"],
  "--allow-http": ["insecure", "insecure-http", "plain-http"],
  "--query": ["jq", "jmespath", "filter", "template", "jsonpath"],
  "--base-url": ["url", "host", "endpoint", "endpoint-url", "server", "api-url"],
  "--profile": ["context", "account"],
  "--debug": ["verbose", "trace", "log", "v"],
  "--quiet": ["silent"],
  "--color": ["colour", "no-color", "no-colour", "colors"],
  "--yes": ["f", "force", "confirm", "assume-yes", "no-prompt", "non-interactive"],
  "--plan": ["size", "flavor", "type", "server-type"],
  "--image": ["os", "template"],
  "--ssh-key": ["ssh-keys", "key-name", "keypair"],
  "--limit": ["max", "max-items", "count", "n"],
  "--dry-run": ["plan-only", "preview", "whatif"],
  "--timeout": ["wait-timeout"],
  "--for": ["status", "until"]
}

const matching = (
  table: Readonly<Record<string, ReadonlyArray<string>>>,
  word: string,
  known: ReadonlyArray<string>
): ReadonlyArray<string> =>
  Object.entries(table).flatMap(([own, words]) => (known.includes(own) && words.includes(word) ? [own] : []))

/** The commands among `known` that other tools call by this word. */
export const commandsLike = (word: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  matching(commands, word.toLowerCase(), known)

/** The flags among `known` that the user may have meant, with their dashes, most likely first. */
export const suggestFlags = (written: string, known: ReadonlyArray<FlagHelp>): ReadonlyArray<string> => {
  const word = written.replace(/^--?/, "")
  const names = Array.from(new Set(known.map(({ name }) => name)))
  const spelled = names.map((name) => `--${name}`)
  const like = matching(flags, word.toLowerCase(), spelled)
  if (like.length > 0) return like
  if (word.length === 1) return spelled.filter((name) => name.startsWith(`--${word.toLowerCase()}`))
  return nearest(word, names).map((name) => `--${name}`)
}
