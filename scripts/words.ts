/**
 * Checks that the repository keeps to its vocabulary: no word of `docs/glossary.md`'s column "not" is left in names, comments,
 * messages, tests and docs. Names are read word by word, so that `toldBefore` counts as "told".
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

interface Rule {
  readonly pattern: RegExp
  /** What to write. */
  readonly instead: string
  /** Files that the rule is for; without them, all. */
  readonly only?: RegExp
  /** Files in which the word means something else. */
  readonly except?: RegExp
}

const word = (words: string, instead: string, files: Pick<Rule, "only" | "except"> = {}): Rule => ({
  pattern: new RegExp(`\\b(?:${words})\\b`, "i"),
  instead,
  ...files
})

const rules: ReadonlyArray<Rule> = [
  word("quotas?", "rate limit"),
  word("(?:looks?|looked|looking)(?![- ]ups?\\b)", "get, read, poll"),
  word("tours?|rounds", "sweep"),
  word("tells?|told|telling|untold", "emit, report, publish, deliver, notify; unreported"),
  word("says?|said|saying|unsaid", "state, report, mean, print: whichever is exact"),
  word("hears?|heard|hearing|unheard", "receive, notice"),
  word(
    "whoever|whomever|nobody|somebody|everybody|anybody",
    "the thing itself as the subject: the caller, other clients"
  ),
  word("peers?", "own processes, other clients", { except: /package\.json$|pnpm-workspace|0006-toolchain/ }),
  word("others|sharing", "own processes, other clients", { only: /client\/allowance\// }),
  word("even refill", "token bucket"),
  word("settle|settles|settled|settling|settlements?", "reconcile, resolve; end"),
  word("left open|losing", "unresolved"),
  word("namesakes?", "same-name nodes, duplicates"),
  word("key hold|at it|aside", "KeyLock, isOwnerAlive, stalePath"),
  word("graves?|buried|bury|risen", "tombstone, confirmedGone, revived", { except: /transport\/Redaction\.ts$/ }),
  word("strikes?|struck|misbehaves?|misbehave|misbehaving", "fires, injectFaults, withFaults"),
  word("lies", "semantic faults"),
  word("bad delivery|drips?|damage", "deliverFault, slowBody, WireFault", { except: /state|decisions\/|docs\// }),
  word("row texts?|node texts?|remembers?|remembered", "nodeBody, pageBody, KeptBodies, cached"),
  word("visitors?", "anonymous allowances"),
  word("keyrings?", "credential index"),
  word("unanswered|unanswerable", "fallback, precheck", { only: /^apps\/server\// }),
  word("blind", "pauseWithoutRetryAfterMillis"),
  word("wish|wishes", "options, request, input"),
  word("dear", "slow"),
  word("what is so|what came of it", "what is true; the outcome"),
  word("node outcomes?", "forEachNode"),
  word("budgets?", "allowance, share (the retry budget alone is a budget)", {
    except: /client\/call\/|options|docs\/decisions\/|restart\.test|client\/calls\.test/
  }),
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
  "{*.md,*.ts,apps/*/*.md,packages/*/*.md,bench/*.md,{apps,packages}/*/{src,test,examples,scripts}/**/*.{ts,js,html,css},bench/src/**/*.ts,scripts/**/*.ts,tests/**/*.ts,docs/**/*.md}"

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
      return rules.flatMap(({ except, instead, only, pattern }) => {
        if (only?.test(file) === false || except?.test(file) === true) return []
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
