/** Finds faults in the built pages of a site: dead links and anchors, and anything that a browser would load from another host. */
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path/posix"

/** Attributes whose value the browser loads. */
const loads =
  /<(?:script|img|source|iframe|video|audio|embed|object)\b[^>]*?\s(?:src|srcset|data|poster)="([^"]*)"|<link\b[^>]*?\shref="([^"]*)"/g

const outside = /^(?:https?:)?\/\//

const anchors = /<a\b[^>]*?\shref="([^"]*)"/g

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&#38;": "&", "&#x26;": "&" }

const decoded = (value: string): string =>
  decodeURIComponent(value.replaceAll(/&(?:amp|#38|#x26);/g, (entity) => entities[entity]!))

const all = (text: string, pattern: RegExp): ReadonlyArray<string> =>
  Array.from(text.matchAll(pattern), ([, ...groups]) => groups.find((group) => group !== undefined) ?? "")

/** What a style sheet or a script would load from another host. */
const loadedElsewhere = (file: string, text: string): ReadonlyArray<string> =>
  file.endsWith(".css")
    ? all(text, /(?:url\(\s*["']?|@import\s+["'])((?:https?:)?\/\/[^"')\s]+)/g)
    : all(text, /(?:\bimport\s*\(?\s*|\bfrom\s*|\bfetch\(\s*|\.src\s*=\s*)["'`]((?:https?:)?\/\/[^"'`]+)/g)

/** One sentence for each fault of the site in `folder`, which is published below the path `base`. */
export const htmlFaults = (folder: string, base = ""): ReadonlyArray<string> => {
  const files = globSync("**/*.{html,css,js}", { cwd: folder }).toSorted()
  const texts = new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]))
  const ids = new Map<string, ReadonlySet<string>>()
  const idsOf = (file: string): ReadonlySet<string> => {
    const known = ids.get(file) ?? new Set(all(texts.get(file) ?? "", /\s(?:id|name)="([^"]*)"/g).map(decoded))
    ids.set(file, known)
    return known
  }
  const linkFault = (file: string, href: string): string | undefined => {
    if (/^(?:https?|mailto):/.test(href)) return undefined
    const [path = "", hash] = decoded(href).split("#")
    if (path.startsWith("/") && !path.startsWith(`${base}/`)) return `${file}: ${href} is not below ${base}/`
    const wanted = path.startsWith("/") ? path.slice(base.length + 1) : path === "" ? file : join(dirname(file), path)
    const target = [wanted, join(wanted, "index.html"), `${wanted}.html`].find(
      (each) => /\.\w+$/.test(each) && existsSync(join(folder, each))
    )
    if (target === undefined) return `${file}: ${href} leads nowhere`
    return hash === undefined || hash === "" || hash === "_top" || idsOf(target).has(hash)
      ? undefined
      : `${file}: ${href} leads to no anchor of ${target}`
  }
  return Array.from(texts).flatMap(([file, text]) => {
    const elsewhere = file.endsWith(".html")
      ? all(text, loads).filter((value) => outside.test(value))
      : loadedElsewhere(file, text)
    const own = file.endsWith(".html")
      ? all(text, loads).filter((value) => value !== "" && !value.startsWith("data:"))
      : []
    const linked = file.endsWith(".html") ? all(text, anchors) : []
    return [
      ...elsewhere.map((value) => `${file} loads ${value} from another host`),
      ...[...new Set([...own.filter((value) => !outside.test(value)), ...linked])].flatMap(
        (href) => linkFault(file, href) ?? []
      )
    ]
  })
}
