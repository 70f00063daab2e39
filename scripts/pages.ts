// Copies the README of a workspace into its packed folder, so that its links work there. It also copies the pages for users that the README
// links to. A link to anything else, such as a source or a decision, becomes plain text.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const link = /\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g

/** The pages below `docs` that are for users, and not for people who change Berth. */
const pageForUsers =
  /^docs\/(?:(?!architecture|inside-the-mock|adding-an-endpoint)[\w-]+|(?:interface|reference)\/[\w-]+)\.md$/

/** Copies the README of the workspace `home` to the filled folder of its package. */
export const packPages = (root: string, folder: string, home: string): void => {
  const source = join(root, home)
  const packed = new Set<string>()
  /** The path of a repository's file in the package; undefined if the package does not have the file. */
  const placeOf = (path: string): string | undefined => {
    const page = relative(root, path)
    if (pageForUsers.test(page)) return page
    const own = relative(source, path)
    return own === "README.md" || (!own.startsWith("..") && existsSync(join(folder, own))) ? own : undefined
  }
  const pack = (from: string, place: string): void => {
    packed.add(place)
    const target = join(folder, place)
    const pages = new Map<string, string>()
    const text = readFileSync(from, "utf8").replaceAll(link, (_whole, words: string, path: string, hash = "") => {
      const linked = resolve(dirname(from), path)
      const there = placeOf(linked)
      if (there === undefined) return words
      if (there.endsWith(".md")) pages.set(linked, there)
      return `[${words}](${relative(dirname(target), join(folder, there))}${hash})`
    })
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
    for (const [linked, there] of pages) if (!packed.has(there)) pack(linked, there)
  }
  pack(join(source, "README.md"), "README.md")
}
