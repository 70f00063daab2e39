/**
 * HTML from templates: what is put into one is text, unless it is HTML itself.
 */

export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type Child = Html | string | number | undefined | ReadonlyArray<Child>

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }

const textOf = (child: Child): string => {
  if (child === undefined) return ""
  if (child instanceof Html) return child.text
  if (typeof child === "object") return child.map(textOf).join("")
  return String(child).replace(/[&<>"]/g, (character) => entities[character]!)
}

/** Attributes are quoted with `"`. `undefined` is nothing, and of a list one follows the other. */
export const html = (strings: TemplateStringsArray, ...children: ReadonlyArray<Child>): Html =>
  new Html(String.raw({ raw: strings }, ...children.map(textOf)))
