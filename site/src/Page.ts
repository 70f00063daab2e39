/** A page of the site before it becomes HTML: Markdown with a title and an address. */

export interface Page {
  /** The address below that of the site, without slashes at its ends, such as `reference/core/client/Nodes`. */
  readonly slug: string
  readonly title: string
  /** One sentence of plain text, for search engines and for `llms.txt`. */
  readonly description: string
  /** Without its title. Links are addresses of the site. */
  readonly markdown: string
}

/** The first sentence of a text in Markdown as plain text. */
export const firstSentence = (markdown: string): string => {
  const paragraph =
    markdown
      .replaceAll(/<!--.*?-->|<[^>]+>/gs, "")
      .split(/\n\s*\n/)
      .find((part) => /^[\w"`*[]/.test(part.trim()) && !part.trim().startsWith("```")) ?? ""
  const text = paragraph
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text
}

/** A page as Starlight reads it. YAML reads JSON. */
export const withFrontmatter = ({ description, markdown, title }: Page): string =>
  ["---", `title: ${JSON.stringify(title)}`, `description: ${JSON.stringify(description)}`, "---", markdown].join("\n")
