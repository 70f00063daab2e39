/**
 * Checks that each technical thing has only one name: names, comments, messages, tests and docs do not use the terms that
 * `docs/glossary.md` replaces. Ordinary English words are never forbidden. The check reads names word by word: `keyringOf`
 * counts as "keyring".
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

interface Rule {
  readonly pattern: RegExp
  /** The word to write instead. */
  readonly instead: string
}

const word = (words: string, instead: string): Rule => ({ pattern: new RegExp(`\\b(?:${words})\\b`, "i"), instead })

const rules: ReadonlyArray<Rule> = [
  word("even refill", "token bucket"),
  word("settlements?", "reconciliation"),
  word("namesakes?", "same-name nodes, duplicates"),
  word("key hold", "KeyLock"),
  word("bad delivery", "deliverFault, slowBody, WireFault"),
  word("row texts?|node texts?", "nodeBody, pageBody, KeptBodies"),
  word("keyrings?", "credential index"),
  word("blind pause", "pauseWithoutRetryAfterMillis"),
  word("node outcomes?", "forEachNode"),
  {
    pattern: /\b(?:most|longest|largest|fewest|least|smallest|shortest)[A-Z]\w*/,
    instead: "max…, min…, the unit last"
  },
  { pattern: /\b[a-z]\w*[a-z]Ms\b/, instead: "Millis" },
  { pattern: /\bupMillis\b/, instead: "monotonicMillis" },
  { pattern: /\bParts\b/, instead: "Dependencies" }
]

/** Names that Berth did not choose: names from Node, JavaScript and manifests. */
const foreign =
  /\bmtimeMs\b|\bctimeMs\b|\bMath\.round\b|\ballSettled\b|peerDependenc\w*|\bformatToParts\b|\btoParts\w*|\bParts\b(?=<)/g

const files =
  "{*.md,*.ts,apps/*/*.md,packages/*/*.md,bench/*.md,{apps,packages}/*/{src,test,examples,scripts}/**/*.{ts,tsx,js,html,css},bench/src/**/*.ts,scripts/**/*.ts,site/src/**/*.ts,tests/**/*.ts,docs/**/*.md}"

/** Files that quote texts of others, or that are about the forbidden words themselves. */
const quoted = /^docs\/interface\/|^docs\/glossary\.md$|^scripts\/words\.ts$|^tests\/repository\/words\.test\.ts$/

/** `camelCase` as words. */
const spelledOut = (line: string) => line.replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")

const faultsIn = (root: string, file: string): ReadonlyArray<string> =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line, number) => {
      const own = line.replaceAll(foreign, "")
      const spelled = spelledOut(own)
      return rules.flatMap(({ instead, pattern }) => {
        const [found] = pattern.exec(pattern.flags === "i" ? spelled : own) ?? []
        return found === undefined ? [] : [`${file}:${number + 1}: "${found}" (write: ${instead})`]
      })
    })

/** Every forbidden word in the repository at `root`, one line each, with its place. */
export const wordFaults = (root: string): ReadonlyArray<string> =>
  globSync(files, { cwd: root, exclude: (name) => name === "node_modules" || name === "dist" })
    .filter((file) => !quoted.test(file))
    .toSorted()
    .flatMap((file) => faultsIn(root, file))

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = wordFaults(join(import.meta.dirname, ".."))
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
