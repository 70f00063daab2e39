/**
 * The reference of every public name: a page for each declaration file, with an anchor for each name. It is made from the declarations that
 * `scripts/pack.ts` emits and from the report of the names that a program can reach. The title of a file that programs import is its
 * specifier.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { reportOf } from "@berthkit/scripts/publicApi"
import { type Declaration, type DeclarationFile, readDeclarations } from "./declarations.ts"
import { firstSentence, type Page } from "./Page.ts"
import { address } from "./place.ts"

/** The content of a package's report: its entries, and the names in each declaration file. */
export interface Reported {
  /** Specifiers that programs import, by their declaration file. */
  readonly entries: ReadonlyMap<string, ReadonlyArray<string>>
  readonly names: ReadonlyMap<string, ReadonlyArray<string>>
}

const declared = /^(?:export )?(?:declare )?(?:abstract )?(?:const|class|function|interface|type|namespace) (\w+)/gm

export const readReport = (report: string): Reported => {
  const [head = "", ...sections] = report.split(/^## /m)
  const entries = new Map<string, ReadonlyArray<string>>()
  for (const [, specifier, file] of head.matchAll(/^(@\S+) {2}\.\/(\S+\.d\.ts)$/gm)) {
    entries.set(file!, [...(entries.get(file!) ?? []), specifier!])
  }
  const names = sections.map((section): readonly [string, ReadonlyArray<string>] => [
    section.slice(0, section.indexOf("\n")),
    Array.from(new Set(Array.from(section.matchAll(declared), ([, name]) => name!)))
  ])
  return { entries, names: new Map(names) }
}

/** The meaningful part of a declaration file's path. */
const shortPath = (file: string): string =>
  file.replace(/^dist\/(?:types\/apps\/server\/src\/)?/, "").replace(/\.d\.ts$/, "")

/** The address of the page about a declaration file. */
export const slugOfDeclarations = (packageName: string, file: string): string =>
  `reference/${packageName}/${shortPath(file)}`.toLowerCase()

const kindTitles: ReadonlyArray<readonly [Declaration["kind"], string]> = [
  ["function", "Functions"],
  ["value", "Values"],
  ["class", "Classes"],
  ["interface", "Interfaces"],
  ["type", "Types"],
  ["namespace", "Namespaces"]
]

/** Code as people write it, without the words that every line of a declaration file repeats. */
const readable = (code: string): string =>
  code.replaceAll(/\bimport\("[^"]+"\)\./g, "").replaceAll(/^export declare |^export |^declare /gm, "")

/** Escapes a docstring as Markdown, so that `<` begins no tag. */
const safe = (markdown: string): string =>
  markdown
    .split(/(```[^]*?```|`[^`]*`)/)
    .map((part, place) => (place % 2 === 0 ? part.replaceAll("<", "&lt;").replaceAll("{", "&#123;") : part))
    .join("")

/** One package: its pages, and how its declarations refer to each other. */
class Package {
  readonly name: string
  readonly folder: string
  readonly reported: Reported
  readonly #files = new Map<string, DeclarationFile>()
  readonly #cite: (text: string) => string

  constructor(name: string, folder: string, cite: (text: string) => string) {
    this.name = name
    this.folder = folder
    this.reported = readReport(reportOf(folder))
    this.#cite = cite
  }

  #read(file: string): DeclarationFile {
    const known = this.#files.get(file) ?? readDeclarations(join(this.folder, file))
    this.#files.set(file, known)
    return known
  }

  #relative(path: string): string {
    return path.slice(this.folder.length + 1)
  }

  /** The names that a file re-exports, each with the file that declares it. */
  #passedOn(file: string): ReadonlyArray<readonly [file: string, declaration: Declaration]> {
    return this.#read(file).passedOn.flatMap(({ file: path, names }) => {
      const from = this.#relative(path)
      const target = this.#read(from)
      const own = target.declarations.filter(({ code, name }) =>
        names === "*" ? code.startsWith("export ") : names.includes(name)
      )
      const further = this.#passedOn(from).filter(([, { name }]) => names === "*" || names.includes(name))
      return [...own.map((each) => [from, each] as const), ...further]
    })
  }

  #link(file: string, name: string): string {
    return `[\`${name}\`](${address(slugOfDeclarations(this.name, file))}/#${name})`
  }

  /** An index of the names that other files declare, with a list for each kind. */
  #index(file: string): string {
    const passed = this.#passedOn(file)
    return kindTitles
      .flatMap(([kind, title]) => {
        const lines = passed
          .filter(([, declaration]) => declaration.kind === kind)
          .toSorted(([, a], [, b]) => (a.name < b.name ? -1 : 1))
          .map(([from, { doc, name }]) => {
            const about = firstSentence(doc)
            return `- ${this.#link(from, name)}${about === "" ? "" : `: ${safe(about)}`}`
          })
        return lines.length === 0 ? [] : [`## ${title}\n\n${lines.join("\n")}`]
      })
      .join("\n\n")
  }

  #section({ code, doc, name }: Declaration, bases: ReadonlyArray<Declaration>): string {
    const about = doc === "" ? "" : `${this.#cite(safe(doc))}\n\n`
    const anchors = [name, ...bases.map((base) => base.name)].map((id) => `<span class="anchor" id="${id}"></span>`)
    const codes = [code, ...bases.map((base) => base.code)].map(readable).join("\n\n")
    return `${anchors.join("")}\n\n## ${name}\n\n${about}\`\`\`ts wrap frame="none"\n${codes}\n\`\`\``
  }

  page(file: string): Page {
    const { declarations, doc } = this.#read(file)
    const specifiers = this.reported.entries.get(file)
    const listed = new Set(this.reported.names.get(file))
    const shown = declarations.filter(({ name }) => listed.has(name))
    // A class is shown together with the base that the compiler generated for it.
    const basesOf = ({ name }: Declaration) => shown.filter((each) => each.name === `${name}_base`)
    const bases = new Set(shown.flatMap(basesOf))
    const alone = shown.filter((each) => !bases.has(each))
    const exported = alone.filter(({ code }) => code.startsWith("export "))
    const use =
      specifiers === undefined
        ? "Types that public names mention. Programs do not import this file itself."
        : `Import from ${specifiers.map((each) => `\`"${each}"\``).join(" or ")}.`
    const index = this.#index(file)
    return {
      slug: slugOfDeclarations(this.name, file),
      title: specifiers?.at(-1) ?? `${this.name}: ${shortPath(file)}`,
      description: firstSentence(doc) || `The public names of ${shortPath(file)}.`,
      markdown: [
        this.#cite(safe(doc)),
        use,
        index,
        ...[...exported, ...alone.filter((each) => !exported.includes(each))].map((each) =>
          this.#section(each, basesOf(each))
        )
      ]
        .filter(Boolean)
        .join("\n\n")
    }
  }

  /** All names of the package, from A to Z. */
  indexPage(): Page {
    const names = Array.from(this.reported.names)
      .flatMap(([file, all]) =>
        all.filter((name) => !name.endsWith("_base")).map((name) => ({ name, file, key: name.toLowerCase() }))
      )
      .toSorted((a, b) => (a.key === b.key ? (a.file < b.file ? -1 : 1) : a.key < b.key ? -1 : 1))
    const lines = names.map(({ file, name }) => `- ${this.#link(file, name)} in ${shortPath(file)}`)
    return {
      slug: `reference/${this.name}`,
      title: `All names of @berthkit/${this.name}`,
      description: `Every public name of the package, from A to Z.`,
      markdown: `Every name that a program can reach from what the package exports.\n\n${lines.join("\n")}`
    }
  }

  pages(): ReadonlyArray<Page> {
    return [this.indexPage(), ...Array.from(this.reported.names.keys(), (file) => this.page(file))]
  }
}

/** An entry of the navigation. */
export interface Entry {
  readonly label: string
  readonly slug: string
}

export interface Reference {
  readonly name: string
  readonly pages: ReadonlyArray<Page>
  /** The pages of what programs import. */
  readonly entries: ReadonlyArray<Entry>
}

/** The reference of the package in `folder`; `cite` links what docstrings cite. */
export const referenceOf = (name: string, folder: string, cite: (text: string) => string): Reference => {
  const read = new Package(name, folder, cite)
  const entries = Array.from(read.reported.entries, ([file, specifiers]): Entry => ({
    label: specifiers.at(-1)!.replace(`@berthkit/${name}/`, ""),
    slug: slugOfDeclarations(name, file)
  }))
  return { name, pages: read.pages(), entries }
}

/** The committed report of a package. */
export const committedReport = (file: string): Reported => readReport(readFileSync(file, "utf8"))
