/** Links what docstrings cite: `decision 0085`, `A20`, `interface.md`. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { pagesShown } from "./repositoryPages.ts"
import { root, slugOf } from "./navigation.ts"
import { address } from "./place.ts"

const assumptions = "docs/interface/assumptions.md"

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-")

export const citations = (): ((markdown: string) => string) => {
  const decisions = new Map(
    pagesShown().flatMap((path) => {
      const number = /^docs\/decisions\/(\d{4})-/.exec(path)?.[1]
      return number === undefined ? [] : [[number, slugOf(path)] as const]
    })
  )
  const headings = readFileSync(join(root, assumptions), "utf8").matchAll(/^### ((A\d+) .*)$/gm)
  const anchors = new Map(Array.from(headings, ([, heading, id]) => [id!, anchorOf(heading!)]))
  const link = (words: string, slug: string, anchor = "") => `[${words}](${address(slug)}/${anchor})`
  const cited = (text: string): string =>
    text
      .replaceAll(/\bdecision (\d{4})\b/g, (words, number) => {
        const slug = decisions.get(number)
        return slug === undefined ? words : link(words, slug)
      })
      .replaceAll(/\bA\d+\b/g, (id) => (anchors.has(id) ? link(id, slugOf(assumptions), `#${anchors.get(id)}`) : id))
      .replaceAll(/\binterface\.md(?: §\d)?/g, (words) => link(words, slugOf("docs/interface/interface.md")))
  return (markdown) =>
    markdown
      .split(/(```[^]*?```|`[^`]*`)/)
      .map((part, place) => (place % 2 === 0 ? cited(part) : part))
      .join("")
}
