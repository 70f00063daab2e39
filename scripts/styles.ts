/**
 * Checks three rules of the pages. A selector declares a property only once, in the page's style sheet or in `controls.css`.
 * Only `controls.css` styles the borders and backgrounds of buttons and fields. Scripts change the document only through
 * Preact.
 */
import { globSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"

const controls = "packages/web/src/controls.css"

interface Declaration {
  readonly file: string
  /** One selector of a rule's list, with the conditions around the rule, such as `@media`. */
  readonly selector: string
  readonly property: string
}

const spaced = (text: string): string => text.trim().replaceAll(/\s+/g, " ")

/** The selectors of a list; commas within parentheses do not separate selectors. */
const selectorsOf = (list: string): ReadonlyArray<string> => {
  const selectors = [""]
  let depth = 0
  for (const character of list) {
    if (character === "(") depth += 1
    if (character === ")") depth -= 1
    if (character === "," && depth === 0) selectors.push("")
    else selectors[selectors.length - 1] += character
  }
  return selectors.map(spaced)
}

/** All declarations of a style sheet. */
export const declarationsOf = (file: string, css: string): ReadonlyArray<Declaration> => {
  const declarations: Array<Declaration> = []
  const open: Array<string> = []
  const plain = css.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/"[^"]*"/g, (text) => text.replaceAll(/[{};]/g, " "))
  for (const [, text, end] of plain.matchAll(/([^{};]*)([{};])/g)) {
    if (end === "{") open.push(spaced(text!))
    else if (text!.includes(":")) {
      const conditions = open.filter((each) => each.startsWith("@")).join(" ")
      const property = spaced(text!.slice(0, text!.indexOf(":")))
      for (const selector of selectorsOf(open.at(-1) ?? "")) {
        declarations.push({ file, selector: spaced(`${conditions} ${selector}`), property })
      }
    }
    if (end === "}") open.pop()
  }
  return declarations
}

const isControl = /(?:^|[\s>+~])(?:button|input|select|textarea)(?::[\w-]+(?:\([^)]*\))?)*$/

const ownOfControls = /^(?:border(?!-(?:spacing|collapse)).*|background(?:-color)?|box-shadow)$/

const byHand =
  /\b(?:innerHTML|outerHTML|insertAdjacent\w+|insertBefore|appendChild|replaceChildren|replaceWith|cloneNode)\b/

/** Everything that breaks these rules in the repository at `root`, one sentence each. */
export const styleFaults = (root: string): ReadonlyArray<string> => {
  const read = (path: string) => readFileSync(join(root, path), "utf8")
  const shared = declarationsOf(controls, read(controls))
  const faults: Array<string> = []
  const noteTwice = (declarations: ReadonlyArray<Declaration>) => {
    const seen = new Map<string, string>()
    for (const { file, property, selector } of declarations) {
      const key = `${selector} { ${property} }`
      const before = seen.get(key)
      if (before !== undefined) faults.push(`${file} states ${key}, as ${before} does`)
      seen.set(key, file)
    }
  }
  noteTwice(shared)
  for (const page of globSync("apps/*/src/**/page/browser/*.css", { cwd: root }).toSorted()) {
    const own = declarationsOf(page, read(page))
    const known = new Set(shared.map(({ property, selector }) => `${selector} { ${property} }`))
    noteTwice(own)
    for (const { property, selector } of own) {
      if (isControl.test(selector) && ownOfControls.test(property)) {
        faults.push(
          `${page} states ${property} of ${selector}: buttons and fields look the same everywhere, as ${basename(controls)} has it`
        )
      }
      if (known.has(`${selector} { ${property} }`)) {
        faults.push(`${page} states ${selector} { ${property} }, as ${controls} does`)
      }
    }
  }
  const scripts = globSync(["apps/*/src/**/page/browser/*.{ts,tsx}", "packages/web/src/components/*.{ts,tsx}"], {
    cwd: root
  })
  for (const script of scripts.toSorted()) {
    const found = byHand.exec(read(script))
    if (found !== null) faults.push(`${script} has ${found[0]}: Preact alone changes the document`)
  }
  return faults
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = styleFaults(join(import.meta.dirname, ".."))
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
