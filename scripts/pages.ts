// Copies a page, such as a README, into a packed folder, so that its links work there. Pages for users that it links to come with it; a
// link to what is not in the package, such as a source or a decision, becomes its text.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"

const link = /\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)/g

/** Where a page of the repository is in a package; undefined for what is not for users. */
const placeOf = (root: string, path: string): string | undefined =>
  /^docs\/(?:using-with-\w+|control-plane)\.md$/.exec(relative(root, path))?.[0]

/** Copies the page `source` to `name` in the folder of a package, which is otherwise filled. */
export const packPage = (root: string, folder: string, source: string, name: string): void => {
  const target = join(folder, name)
  const others = new Map<string, string>()
  const text = readFileSync(source, "utf8").replaceAll(link, (whole, words: string, path: string, hash = "") => {
    const linked = resolve(dirname(source), path)
    const place = placeOf(root, linked)
    if (place !== undefined) {
      others.set(linked, place)
      return `[${words}](${relative(dirname(target), join(folder, place))}${hash})`
    }
    const beside = resolve(dirname(target), path)
    return beside.startsWith(`${folder}/`) && existsSync(beside) ? whole : words
  })
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  for (const [linked, place] of others) {
    if (!existsSync(join(folder, place))) packPage(root, folder, linked, place)
  }
}
