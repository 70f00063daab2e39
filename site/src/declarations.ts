/**
 * Reads the declaration files of a packed package: the declarations of each file with their docstrings, and what it re-exports from other
 * files.
 */
import { existsSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"

/** All statements of one name, because a type and a value may share a name. */
export interface Declaration {
  readonly name: string
  readonly kind: "class" | "function" | "interface" | "namespace" | "type" | "value"
  /** In Markdown; empty if there is none. */
  readonly doc: string
  /** TypeScript, with the docstrings of its members. */
  readonly code: string
}

/** Names that a file exports and another file declares. `*` means all names. */
interface PassedOn {
  readonly file: string
  readonly names: "*" | ReadonlyArray<string>
}

export interface DeclarationFile {
  /** The comment at the top of the file. */
  readonly doc: string
  readonly declarations: ReadonlyArray<Declaration>
  readonly passedOn: ReadonlyArray<PassedOn>
}

/** Longer declarations are inferred types that nobody reads. */
const maxCode = 3000

const columns = 76

const declared = /^(?:export )?(?:declare )?(?:abstract )?(const|class|function|interface|type|namespace) (\w+)/

/** The text within a block comment. */
const commentText = (comment: string): string =>
  comment
    .replace(/^\s*\/\*\*?/, "")
    .replace(/\s*\*\/\s*$/, "")
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .trim()

/** Wraps a paragraph into lines of at most `width` characters, unless a word is longer. */
const wrapped = (paragraph: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of paragraph.split(/\s+/)) {
    if (line !== "" && line.length + word.length >= width) {
      lines.push(line)
      line = word
    } else line = line === "" ? word : `${line} ${word}`
  }
  return [...lines, line]
}

/** Reflows the comments within a declaration to the width of a page. */
const reflowed = (code: string): string =>
  code.replaceAll(/^( *)\/\*\*[^]*?\*\/$/gm, (comment, indent: string) => {
    const text = commentText(comment)
    if (text.length <= columns - indent.length && !text.includes("\n")) return `${indent}/** ${text} */`
    const paragraphs = text.split(/\n\s*\n|\n(?=@|- )/)
    const lines = paragraphs.flatMap((part, place) => [
      ...(place > 0 && !/^[@-]/.test(part) ? [""] : []),
      ...wrapped(part, columns - indent.length - 3)
    ])
    return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join("\n")
  })

const docOf = (comment: string): string =>
  commentText(comment)
    .replaceAll(/\{@link (\S+?)\}/g, "`$1`")
    .replaceAll(/^@deprecated\s*/gm, "**Deprecated:** ")
    .replaceAll(/^@(\w+)/gm, "**$1:**")

const shortened = (code: string): string =>
  code.length <= maxCode ? code : `${code.slice(0, code.indexOf(":") + 1)} … // inferred, ${code.length} characters`

/** The top-level statements, each with the comment right before it. */
const statementsOf = (text: string): ReadonlyArray<readonly [comment: string, statement: string]> => {
  const statements: Array<readonly [string, string]> = []
  let comment = ""
  for (const part of text.split(/\n(?=\/\*\*|[a-z]\w)/)) {
    const [, before = "", rest = ""] = /^(\/\*\*[^]*?\*\/)?\s*([^]*)$/.exec(part.trim()) ?? []
    if (before !== "") comment = before
    if (rest === "") continue
    statements.push([comment, rest.trim()])
    comment = ""
  }
  return statements
}

const kinds: Readonly<Record<string, Declaration["kind"]>> = { const: "value" }

export const readDeclarations = (file: string): DeclarationFile => {
  const text = readFileSync(file, "utf8").replaceAll(/^\/\/\/.*\n/gm, "")
  const [first = ""] = /^\s*\/\*\*[^]*?\*\/\n/.exec(text) ?? []
  // If a declaration follows directly, the comment belongs to it: the compiler removed the file's comment together with the imports.
  const head = declared.test(text.slice(first.length)) ? "" : first
  const found = new Map<string, Declaration>()
  const passedOn: Array<PassedOn> = []
  const fileOf = (specifier: string) => resolve(dirname(file), specifier.replace(/\.js$/, ".d.ts"))
  for (const [comment, statement] of statementsOf(text.slice(head.length))) {
    const [, kind, name] = declared.exec(statement) ?? []
    if (kind !== undefined && name !== undefined) {
      const before = found.get(name)
      const code = reflowed(shortened(statement))
      found.set(name, {
        name,
        kind:
          before === undefined || before.kind === "type" ? (kinds[kind] ?? (kind as Declaration["kind"])) : before.kind,
        doc: [before?.doc, docOf(comment)].filter(Boolean).join("\n\n"),
        code: before === undefined ? code : `${before.code}\n\n${code}`
      })
    }
    const [, list, from] = /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/.exec(statement) ?? []
    if (list !== undefined) {
      const names = list.split(",").map((part) =>
        part
          .trim()
          .replace(/^type /, "")
          .replace(/^.* as /, "")
      )
      passedOn.push({ file: fileOf(from!), names: names.filter(Boolean) })
    }
    const [, all] = /^export (?:type )?\* from "(\.[^"]+)"/.exec(statement) ?? []
    if (all !== undefined) passedOn.push({ file: fileOf(all), names: "*" })
    // `export type { A }` of an import above.
    const [, own] = /^export (?:type )?\{([^}]*)\};/.exec(statement) ?? []
    for (const each of own?.split(",").map((part) => part.trim()) ?? []) {
      const [, from] =
        new RegExp(`^import (?:type )?\\{[^}]*\\b${each}\\b[^}]*\\} from "(\\.[^"]+)"`, "m").exec(text) ?? []
      if (each !== "" && from !== undefined && existsSync(fileOf(from)))
        passedOn.push({ file: fileOf(from), names: [each] })
    }
  }
  return { doc: docOf(head), declarations: Array.from(found.values()), passedOn }
}
