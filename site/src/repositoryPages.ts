/**
 * Turns pages of the repository into pages of the site: it moves the title to the front, rewrites links, and picks pictures for light and
 * dark themes. A link to a file that is not a page leads to the source on the web if `SITE_SOURCE` is set, and otherwise becomes plain
 * text. A dead link is an error.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { decisionIndex, pathOf, root, sections, slugOf } from "./navigation.ts"
import { firstSentence, type Page } from "./Page.ts"
import { address, source } from "./place.ts"

/** The pages that the site must have: all below `docs/`, and the README files for users. */
export const pagesThatAre = (): ReadonlyArray<string> =>
  globSync(["docs/**/*.md", "apps/*/README.md", "packages/core/README.md", "README.md"], { cwd: root }).toSorted()

/** The pages that the navigation shows. */
export const pagesShown = (): ReadonlyArray<string> => [
  ...sections.flatMap(({ items }) => items.map(pathOf)),
  decisionIndex,
  ...globSync("docs/decisions/[0-9]*.md", { cwd: root }).toSorted()
]

/** The languages in use for which the site can highlight code. Code in other languages is shown plain. */
const coloured = new Set(["ts", "js", "sh", "yaml", "json", "http", "nginx", "console", "ini", "toml", "docker", "sql"])

/** Rewrites the first line of a fenced block: words after the language become the title. */
const fence = (info: string): string => {
  const [language = "", ...about] = info.split(" ")
  if (coloured.has(language)) return `\`\`\`${language}`
  return about.length === 0 ? "```text" : `\`\`\`text title="${about.join(" ")}"`
}

/** Width and height of a PNG, so that nothing moves when the browser has loaded it. */
export const sizeOf = (png: string) => {
  const header = readFileSync(png).subarray(16, 24)
  return { width: header.readUInt32BE(0), height: header.readUInt32BE(4) }
}

/** A picture that follows the theme of the page, which may differ from that of the system. */
const picture = (folder: string, html: string): string => {
  const alt = /alt="([^"]*)"/.exec(html)?.[1] ?? ""
  const image = (path: string, theme: string) => {
    const { height, width } = sizeOf(join(folder, path))
    return `<img class="${theme}-only" alt="${alt}" src="${address(`pictures/${path.split("/").at(-1)}`)}" width="${width}" height="${height}" loading="lazy">`
  }
  const dark = /srcset="([^"]+)"/.exec(html)?.[1]
  const light = /src="([^"]+)"/.exec(html)?.[1]
  if (dark === undefined || light === undefined) throw new Error(`a picture without light and dark: ${html}`)
  return `<p class="picture">${image(light, "light")}${image(dark, "dark")}</p>`
}

/** Rewrites the links of the page at `path`. `known` has the pages of the site. */
const withLinks = (markdown: string, path: string, known: ReadonlySet<string>): string =>
  markdown.replaceAll(
    /(?<!!)\[((?:[^\]\\`]|\\.|`[^`]*`)*)\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g,
    (_, words, to, hash = "") => {
      if (to === "") return `[${words}](${hash})`
      const target = relative(root, join(root, dirname(path), to))
      const page = existsSync(join(root, target, "README.md")) ? `${target}/README.md` : target
      if (known.has(page)) return `[${words}](${address(slugOf(page))}/${hash})`
      if (!existsSync(join(root, target))) throw new Error(`${path} links to ${to}, which there is not`)
      return source === undefined ? words : `[${words}](${source}/${target})`
    }
  )

/** Changes the text outside of fenced blocks, and the first line of each block. */
const outsideBlocks = (markdown: string, change: (text: string) => string): string =>
  markdown
    .split(/^(```[^\n]*\n[^]*?^```$)/m)
    .map((part, place) => (place % 2 === 0 ? change(part) : part.replace(/^```([^\n]*)/, (_, info) => fence(info))))
    .join("")

/** Titles of pages that have another title in the repository. */
const titles: Readonly<Record<string, string>> = { "README.md": "Get started" }

const readPage = (path: string, known: ReadonlySet<string>): Page => {
  const text = readFileSync(join(root, path), "utf8")
  const [, title = path, body = text] = /^# (.*)\n([^]*)$/.exec(text) ?? []
  const markdown = outsideBlocks(body, (part) =>
    withLinks(
      part.replaceAll(/<picture>[^]*?<\/picture>/g, (html) => picture(join(root, dirname(path)), html)),
      path,
      known
    )
  )
  return {
    slug: slugOf(path),
    title: titles[path] ?? title.replaceAll("`", ""),
    description: firstSentence(body),
    markdown
  }
}

export const repositoryPages = (): ReadonlyArray<Page> => {
  const known = new Set(pagesShown())
  return Array.from(known, (path) => readPage(path, known))
}
