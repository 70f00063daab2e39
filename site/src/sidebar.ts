/** The navigation in Starlight's form: the sections of `navigation.ts`, then the generated pages. */
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { decisionIndex, pathOf, root, sections, slugOf } from "./navigation.ts"
import type { Page } from "./Page.ts"
import type { Reference } from "./reference.ts"

interface Link {
  readonly label: string
  readonly slug: string
}

interface Group {
  readonly label: string
  readonly collapsed?: boolean
  readonly items: ReadonlyArray<Link | Group>
}

/** The decisions, grouped as their index groups them. */
const decisions = (titles: ReadonlyMap<string, string>): Group => {
  const text = readFileSync(join(root, decisionIndex), "utf8")
  const groups = text
    .split(/^## /m)
    .slice(1)
    .map((part): Group => {
      const names = Array.from(part.matchAll(/^- \[.*?\]\((.*?)\)/gm), ([, name]) =>
        slugOf(`${dirname(decisionIndex)}/${name}`)
      )
      const items = names.map((slug) => ({ label: titles.get(slug) ?? slug, slug }))
      return { label: part.slice(0, part.indexOf("\n")), collapsed: true, items }
    })
  return {
    label: "Decisions",
    collapsed: true,
    items: [{ label: "All decisions", slug: slugOf(decisionIndex) }, ...groups]
  }
}

/** The generated pages. */
export interface Generated {
  readonly commands: ReadonlyArray<Page>
  readonly help: ReadonlyArray<Page>
  readonly descriptions: ReadonlyArray<Page>
  readonly references: ReadonlyArray<Reference>
}

const linkTo = ({ slug, title }: Page): Link => ({ label: title, slug })

export const sidebarOf = (pages: ReadonlyArray<Page>, { commands, descriptions, help, references }: Generated) => {
  const titles = new Map(pages.map(({ slug, title }) => [slug, title]))
  const own = sections.map(({ items, title }): Group => ({
    label: title,
    items: items.map((item) => {
      const slug = slugOf(pathOf(item))
      return { slug, label: typeof item === "string" ? (titles.get(slug) ?? slug) : item[1] }
    })
  }))
  const change = own.at(-1)!
  const reference: Group = {
    label: "Reference",
    items: [
      { label: "Commands of berth", collapsed: true, items: commands.map(linkTo) },
      { label: "The other programs", collapsed: true, items: help.map(linkTo) },
      { label: "HTTP interfaces", collapsed: true, items: descriptions.map(linkTo) },
      ...references.map(({ entries, name }): Group => ({
        label: `@berthkit/${name}`,
        collapsed: true,
        items: [{ label: "All names", slug: `reference/${name}` }, ...entries]
      }))
    ]
  }
  return [...own.slice(0, -1), reference, { ...change, items: [...change.items, decisions(titles)] }]
}
