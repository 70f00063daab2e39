/**
 * Sentences of the description as HTML: `code` in backticks, and behind each statement its source, which is what a reader of a
 * mock wants to know first.
 */
import { html, type Child, type Html } from "./html.ts"

export const sources = {
  documented: "by the service, in the interface it publishes",
  observed: "in public clients of services of this family",
  chosen: "by Berth, where the interface leaves it open"
} as const

type Source = keyof typeof sources

export const sourceTag = (source: Source, where?: string): Html =>
  html`<span class="source ${source}">${source}${where === undefined ? "" : html`: <cite>${where}</cite>`}</span>`

const isSource = (text: string): text is Source => Object.hasOwn(sources, text)

/** `(chosen: decision 4)` at the end of a statement. */
const marked = /\((documented|observed|chosen): ([^)]*)\)/

export const statement = (text: string | undefined): Child =>
  text?.split(/(`[^`]*`|\((?:documented|observed|chosen): [^)]*\))/).map((part) => {
    const [, source = "", where] = marked.exec(part) ?? []
    if (isSource(source)) return sourceTag(source, where)
    return part.startsWith("`") && part.endsWith("`") && part.length > 1
      ? html`<code>${part.slice(1, -1)}</code>`
      : part
  })
