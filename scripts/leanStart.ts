// What the bundle of `berth` does not do at its start. Its sources stay as they are: this is about what Node and Effect do when their modules
// are loaded, whatever of them is used later.
import type { Plugin } from "rolldown"

/** A constant of a module of Effect that most runs do not need, and takes milliseconds. */
interface Constant {
  /** End of the module's path. */
  readonly module: string
  readonly written: string
  readonly instead: string
}

const constants: ReadonlyArray<Constant> = [
  // 10 ms: loads the rules for graphemes and sets of characters from ICU. Only names beyond ASCII are measured with it.
  {
    module: "effect/dist/cli/CliOutput.js",
    written: `const graphemeSegmenter = /*#__PURE__*/new Intl.Segmenter(undefined, {
  granularity: "grapheme"
});
const zeroWidthCodePoints = /[\\p{Mark}\\p{Control}\\p{Default_Ignorable_Code_Point}]/gu;
const emojiPresentation = /\\p{Emoji_Presentation}/u;`,
    instead: `let segmenter, zeroWidth, emoji;
const graphemeSegmenter = { segment: text => (segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text) };
const zeroWidthCodePoints = { [Symbol.replace]: (text, by) => text.replace(zeroWidth ??= /[\\p{Mark}\\p{Control}\\p{Default_Ignorable_Code_Point}]/gu, by) };
const emojiPresentation = { test: text => (emoji ??= /\\p{Emoji_Presentation}/u).test(text) };`
  },
  // 3 ms: the first stack of a process, to see whether it names the function that was called. On V8 it does.
  {
    module: "effect/dist/Utils.js",
    written: "const limit = getStackTraceLimit();",
    instead: "return standard[InternalTypeId];"
  },
  {
    module: "effect/dist/internal/effect.js",
    written: "const continuationMarksStack = /*#__PURE__*/(() => {",
    instead: "const continuationMarksStack = true || /*#__PURE__*/(() => {"
  }
]

/** Makes these constants when they are first used. Fails where Effect has changed them, so that none is forgotten. */
export const constantsOnFirstUse = (): Plugin => ({
  name: "constants on first use",
  transform: (code, id) => {
    const found = constants.find(({ module }) => id.replaceAll("\\", "/").endsWith(module))
    if (found === undefined) return
    if (!code.includes(found.written)) throw new Error(`${found.module} has changed: see scripts/leanStart.ts`)
    return { code: code.replace(found.written, () => found.instead), map: null }
  }
})

const builtin = (name: string): string => `process.getBuiltinModule(${JSON.stringify(name)})`

/** One name of an import: a function loads its module when it is called, any other value has to be there. */
const declaration = (module: string, imported: string, local: string): string => {
  const value: unknown = Reflect.get(process.getBuiltinModule(module)!, imported)
  const isClass = /^[A-Z]/.test(imported)
  return typeof value === "function" && !isClass
    ? `const ${local}=(...values)=>${builtin(module)}.${imported}(...values);`
    : `const ${local}=${builtin(module)}.${imported};`
}

/** `* as X`, `X` or `{ a, b as c }` of a module of Node, as declarations. */
const declarations = (module: string, clause: string): string => {
  if (!clause.startsWith("{")) return `const ${clause.replace(/^\*\s*as\s+/, "")}=${builtin(module)};`
  const names = clause.slice(1, -1).split(",")
  return names
    .map((each) => {
      const [imported = "", local = imported] = each.trim().split(/\s+as\s+/)
      return declaration(module, imported, local)
    })
    .join("")
}

const staticImport = /import\s*((?:\*\s*as\s+)?[\w$]+|\{[^}]*\})\s*from\s*(["'`])(node:[a-z_/]+)\2;?/y
const otherImport = /import\s*(?:[^"'`;]*?from\s*)?(["'`])[^"'`]+\1;?/y
const dynamicImport = /\bimport\(([`"'])(node:[a-z_/]+)\1\)/g

/**
 * Takes Node's own modules as Node's `require` would. To `import` one reads everything that it exports, for which Node loads further modules:
 * streams and promises for `node:fs`, WebCrypto for `node:crypto`, undici for `node:http`. Takes the code of a file of a bundle, whose imports are
 * its first statements.
 */
export const withoutFacades = (code: string): string => {
  let at = 0
  let imports = ""
  let own = ""
  for (;;) {
    staticImport.lastIndex = otherImport.lastIndex = at
    const ofNode = staticImport.exec(code)
    const found = ofNode ?? otherImport.exec(code)
    if (found === null) break
    if (ofNode === null) imports += found[0]
    else own += declarations(ofNode[3]!, ofNode[1]!)
    at += found[0].length
    while (/\s/.test(code[at] ?? "")) at++
  }
  const rest = code.slice(at).replaceAll(dynamicImport, (_, __, name: string) => `Promise.resolve(${builtin(name)})`)
  return imports + own + rest
}

/** Only ASCII: then V8 keeps the code in one byte for each character, not two. */
export const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
