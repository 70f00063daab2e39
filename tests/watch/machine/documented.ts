/** Code blocks of the docs, which tests run with other addresses, ports and folders. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const repository = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** The first block of a docs page that is in this language and contains this text. */
export const blockOf = (page: string, language: string, text: string): string => {
  const blocks = readFileSync(repository(page), "utf8").matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))
  const found = Array.from(blocks, ([, block]) => block!).find((block) => block.includes(text))
  if (found === undefined) throw new Error(`${page} has no ${language} with ${text}`)
  return found
}

/** Replaces each text by another one. Each text must occur. */
export const substitute = (text: string, places: Readonly<Record<string, string>>): string =>
  Object.entries(places).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The docs have no ${from} any more`)
    return text.replaceAll(from, to)
  }, text)
