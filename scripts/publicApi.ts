// Reports the public API of the packed packages: what each entry exports, and every declaration that a program can reach from there. The
// reports are committed, so that reviewers see every change of the API.
//
//   node scripts/publicApi.ts    pack, and write `public-api.txt` of each package with types
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { fillPackages } from "./pack.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** The file of each package's report, by the name of the package's folder. Packages without types have no report. */
export const reportFiles: Readonly<Record<string, string>> = {
  core: join(root, "packages/core/public-api.txt"),
  server: join(root, "apps/server/public-api.txt"),
  watch: join(root, "apps/watch/public-api.txt")
}

/**
 * Maximum length of a reported statement. Longer ones are inferred types that nobody reads: the report has only their
 * digest, so that a change still shows.
 */
const maxStatement = 3000

const comment = /^[ \t]*\/\*\*(?:(?!\*\/)[^])*\*\/\n/gm
const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:const|class|function|interface|type|namespace) (\w+)/
const named = /^(import|export)(?: type)? \{([^}]*)\} from "(\.[^"]+)"/
const whole = /^(import|export) (?:type )?\*(?: as (\w+))? from "(\.[^"]+)"/
const inline = /\bimport\("(\.[^"]+)"\)\.(\w+)/g

/** A name in another declaration file. */
interface Target {
  readonly file: string
  readonly name: string
}

/** A declaration file: its top-level statements, and the origins of its names. */
class Declarations {
  readonly file: string
  readonly statements: ReadonlyArray<string>
  /** Names from other files, by the name that they have in this file. */
  readonly imported = new Map<string, Target>()
  /** The files of imported namespaces, by the name of the namespace. */
  readonly namespaces = new Map<string, string>()
  /** Files that this file re-exports as a whole. */
  readonly passedOn: Array<string> = []

  constructor(file: string) {
    this.file = file
    this.statements = readFileSync(file, "utf8")
      .replaceAll(comment, "")
      .split(/\n(?=[a-z}]\w)/)
      .map((statement) => statement.trim())
    for (const statement of this.statements) this.#readNames(statement)
  }

  #readNames(statement: string): void {
    const [, , list, from] = named.exec(statement) ?? []
    for (const part of list?.split(",") ?? []) {
      const [name, alias = name] = part
        .trim()
        .replace(/^type /, "")
        .split(" as ")
      this.imported.set(alias!, { file: this.resolve(from!), name: name! })
    }
    const [, kind, alias, path] = whole.exec(statement) ?? []
    if (alias !== undefined) this.namespaces.set(alias, this.resolve(path!))
    else if (kind === "export") this.passedOn.push(this.resolve(path!))
  }

  resolve(specifier: string): string {
    return resolve(dirname(this.file), specifier.replace(/\.js$/, ".d.ts"))
  }

  /** The declarations that a statement mentions, in this file and in others. */
  mentionedIn(statement: string): ReadonlyArray<Target> {
    const words = new Set(statement.match(/\b[A-Za-z_$]\w*/g))
    return [
      ...Array.from(words, (name) => this.imported.get(name) ?? { file: this.file, name }),
      ...Array.from(this.namespaces).flatMap(([alias, file]) =>
        Array.from(statement.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, "g")), ([, name]) => ({ file, name: name! }))
      ),
      ...Array.from(statement.matchAll(inline), ([, path, name]) => ({ file: this.resolve(path!), name: name! }))
    ]
  }
}

/** The statements that a program can reach from the exports of `files`, grouped by file and in the order of the file. */
const reachableFrom = (files: ReadonlyArray<string>): ReadonlyArray<readonly [file: string, ReadonlyArray<string>]> => {
  const read = new Map<string, Declarations>()
  const declarationsIn = (file: string): Declarations => {
    const known = read.get(file) ?? new Declarations(file)
    read.set(file, known)
    return known
  }
  const reached = new Set<string>()
  const statements = new Map<string, Set<string>>()
  const waiting: Array<Target> = files.map((file) => ({ file, name: "*" }))
  for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
    const { file, name } = target
    if (reached.has(`${file} ${name}`)) continue
    reached.add(`${file} ${name}`)
    const declarations = declarationsIn(file)
    const own = declarations.statements.filter((statement) =>
      name === "*" ? statement.startsWith("export ") : declared.exec(statement)?.[1] === name
    )
    for (const statement of own) {
      statements.set(file, (statements.get(file) ?? new Set()).add(statement))
      waiting.push(...declarations.mentionedIn(statement))
    }
    const elsewhere = declarations.imported.get(name)
    if (elsewhere !== undefined) waiting.push(elsewhere)
    for (const file of declarations.passedOn) waiting.push({ file, name })
  }
  return Array.from(statements, ([file, reached]) => [
    file,
    declarationsIn(file).statements.filter((statement) => reached.has(statement) && statement !== "export {};")
  ])
}

const shortened = (statement: string): string => {
  if (statement.length <= maxStatement) return statement
  // Sort the words, because the compiler writes the members of an inferred union in any order.
  const words = statement.split(/\b/).toSorted().join("")
  const digest = createHash("sha256").update(words).digest("hex").slice(0, 16)
  return `${statement.slice(0, statement.indexOf(":") + 1)} … (${statement.length} characters, ${digest})`
}

type Entry = string | { readonly types?: string; readonly default?: string }

/** The declaration file of an entry; undefined if the entry has no types. */
const declarationsOf = (entry: Entry): string | undefined => {
  if (typeof entry !== "string") return entry.types
  return entry.endsWith(".js") ? entry.replace(/\.js$/, ".d.ts") : undefined
}

/** The report of the package in a filled folder. */
export const reportOf = (folder: string): string => {
  const { exports, name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const entries = Object.entries(exports as Record<string, Entry>)
  const files = entries.flatMap(([, entry]) => declarationsOf(entry) ?? []).map((path) => resolve(folder, path))
  const listed = entries.map(([path, entry]) => `${name}${path.slice(1)}  ${declarationsOf(entry) ?? "no types"}`)
  const described = reachableFrom(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, statements]) => `## ${relative(folder, file)}\n\n${statements.map(shortened).join("\n")}\n`)
  return `# Printed by \`pnpm public-api\`; a test compares.\n\n${listed.join("\n")}\n\n${described.join("\n")}`
}

if (import.meta.main) {
  const into = mkdtempSync(join(tmpdir(), "berth-public-api-"))
  try {
    await fillPackages(into)
    for (const [name, file] of Object.entries(reportFiles)) writeFileSync(file, reportOf(join(into, name)))
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}
