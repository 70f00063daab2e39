/** `llms.txt` and `llms-full.txt` (https://llmstxt.org): the site as text, for programs that read it. */
import { sections, slugOf, pathOf } from "./navigation.ts"
import type { Page } from "./Page.ts"
import type { Generated } from "./sidebar.ts"
import { address } from "./place.ts"

const line = ({ description, slug, title }: Page): string => `- [${title}](${address(slug)}.md): ${description}`

/** A summary of the site, and a line for each page. Decisions and single declaration files are only in the navigation. */
export const llmsText = (summary: string, pages: ReadonlyMap<string, Page>, generated: Generated): string => {
  const own = sections.map(({ items, title }) => {
    const lines = items.flatMap((item) => pages.get(slugOf(pathOf(item))) ?? []).map(line)
    return `## ${title}\n\n${lines.join("\n")}`
  })
  const entries = generated.references.flatMap(({ entries }) => entries.flatMap(({ slug }) => pages.get(slug) ?? []))
  const further = [...generated.commands, ...generated.help, ...generated.descriptions, ...entries].map(line)
  return `# Berth\n\n> ${summary}\n\n${[...own, `## Reference\n\n${further.join("\n")}`].join("\n\n")}\n`
}

/** The guides and the commands in full, one after the other. */
export const llmsFullText = (summary: string, pages: ReadonlyMap<string, Page>, { commands }: Generated): string => {
  const guides = sections.flatMap(({ items }) => items.flatMap((item) => pages.get(slugOf(pathOf(item))) ?? []))
  const texts = [...guides, ...commands].map(({ markdown, title }) => `# ${title}\n\n${markdown.trim()}\n`)
  return `# Berth\n\n> ${summary}\n\n${texts.join("\n---\n\n")}`
}
