/**
 * The pages of the repository as pages of the site: the title in front, links as addresses of the site, pictures for light and dark.
 * A link to a file that is no page leads to the source on the web where `SITE_SOURCE` names that, and becomes its text elsewhere; one to
 * nothing is an error.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { decisionIndex, pathOf, root, sections, slugOf } from "./navigation.ts"
import { firstSentence, type Page } from "./Page.ts"
import { address, source } from "./place.ts"

/** The pages that the site has to have: all below `docs/`, and those of the workspaces for users. */
export const pagesThatAre = (): ReadonlyArray<string> =>
  globSync(["docs/**/*.md", "apps/*/README.md", "packages/core/README.md", "README.md"], { cwd: root }).toSorted()

/** What the navigation shows. */
export const pagesShown = (): ReadonlyArray<string> => [
  ...sections.flatMap(({ items }) => items.map(pathOf)),
  decisionIndex,
  ...globSync("docs/decisions/[0-9]*.md", { cwd: root }).toSorted()
]

/** Languages that the site can colour, of those in use. Others are shown as they are. */
const coloured = new Set(["ts", "js", "sh", "yaml", "json", "http", "nginx", "console", "ini", "toml", "docker", "sql"])

/** The first line of a fenced block. What it is about beside its language becomes its title. */
const fence = (info: string): string => {
  const [language = "", ...about] = info.split(" ")
  if (coloured.has(language)) return `\`\`\`${language}`
  return about.length === 0 ? "```text" : `\`\`\`text title="${about.join(" ")}"`
}

/** Width and height of a PNG: with them nothing moves when it is there. */
export const sizeOf = (png: string) => {
  const header = readFileSync(png).subarray(16, 24)
  return { width: header.readUInt32BE(0), height: header.readUInt32BE(4) }
}

/** A picture that follows the theme of the page, which may not be that of the system. */
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

/** Links of a page in `folder`, all of whose pages are in the site where `known` has them. */
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

/** The text between fenced blocks changed, and the first lines of the blocks. */
const outsideBlocks = (markdown: string, change: (text: string) => string): string =>
  markdown
    .split(/^(```[^\n]*\n[^]*?^```$)/m)
    .map((part, place) => (place % 2 === 0 ? change(part) : part.replace(/^```([^\n]*)/, (_, info) => fence(info))))
    .join("")

/** Titles of pages that are called otherwise where they are. */
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
