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

/**
 * Takes Node's own modules by `require`, where they are loaded on demand too. To `import` one reads everything that it exports, for which Node
 * loads further modules: streams and promises for `node:fs`, WebCrypto for `node:crypto`, undici for `node:http`.
 */
export const requiringNode = (code: string): string =>
  code.replaceAll(
    /\bimport\(([`"'])(node:[a-z_/]+)\1\)/g,
    (_, __, name: string) => `Promise.resolve(require(${JSON.stringify(name)}))`
  )

/** Only ASCII: the code is read without decoding it, and V8 keeps it in one byte for each character instead of two. */
export const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
