/**
 * A page for people as one document: it loads nothing from anywhere, and runs nothing but its own script, if it has one.
 */
import { hash } from "node:crypto"
import { HttpServerResponse } from "effect/http"
import { readAsset } from "./readAsset.ts"

export interface HtmlPage {
  /** With `<!--style-->` and `<!--script-->` where they go. */
  readonly html: string
  readonly style: string
  /** A module, which may ask this server. */
  readonly script?: string
}

const read = (name: string): string => readAsset(new URL(`./${name}`, import.meta.url))

/**
 * The modules of a page as one script, so that the page loads nothing: no two of them declare the same name. `rows.js` comes
 * before them, and each stands after those that it imports.
 */
export const scriptOf = (modules: ReadonlyArray<string>): string =>
  [read("rows.js"), ...modules]
    .map((text) => text.replace(/^import\s[^"]*"[^"]*"\n/gm, "").replace(/^export /gm, ""))
    .join("\n")

const digest = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

export const htmlPage = ({ html, script, style }: HtmlPage): HttpServerResponse.HttpServerResponse => {
  const wholeStyle = read("palette.css") + style
  const text = html
    .replace("<!--style-->", () => `<style>${wholeStyle}</style>`)
    .replace("<!--script-->", () => (script === undefined ? "" : `<script type="module">${script}</script>`))
  const scripting = script === undefined ? [] : [`script-src ${digest(script)}`, "connect-src 'self'"]
  return HttpServerResponse.text(text, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": [
        "default-src 'none'",
        `style-src ${digest(wholeStyle)}`,
        ...scripting,
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'"
      ].join("; "),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff"
    }
  })
}
