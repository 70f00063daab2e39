/**
 * Checks that one technical thing has one name: the terms that `docs/glossary.md` replaces are not used in names, comments,
 * messages, tests and docs. Ordinary English words are never forbidden. Names are read word by word: `keyringOf` counts as "keyring".
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

/** Words that are not ours: names of Node's and Effect's, of the wire, and of what the rules are about. */
const foreign =
  /\bmtimeMs\b|\bctimeMs\b|\bMath\.round\b|\ballSettled\b|peerDependenc\w*|\bformatToParts\b|\btoParts\w*|\bParts\b(?=<)/g

const files =
  "{*.md,*.ts,apps/*/*.md,packages/*/*.md,bench/*.md,{apps,packages}/*/{src,test,examples,scripts}/**/*.{ts,tsx,js,html,css},bench/src/**/*.ts,scripts/**/*.ts,site/src/**/*.ts,tests/**/*.ts,docs/**/*.md}"

/** Texts that are quoted, or are about the words. */
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

/** Every word to avoid that is left below `root`, and where. */
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
