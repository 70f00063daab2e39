/**
 * The page for people at `/_mock/`: the worlds, their nodes, the clock, the armed faults and the live journal. It is one
 * document that loads nothing from anywhere and holds no data: its script asks the control plane, with the token that its
 * reader types in where one is needed.
 */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import { HttpServerResponse } from "effect/http"

/** The bundle has these files beside it, as this file has. */
const read = (name: string): string => readFileSync(new URL(`./${name}`, import.meta.url), "utf8")

/** The modules of the page, each after those that it imports. */
const modules = ["controlPlane.js", "rows.js", "panels.js", "page.js"]

/** They become one, so that the page loads nothing: no two of them declare the same name. */
const scriptOf = (names: ReadonlyArray<string>): string =>
  names
    .map((name) =>
      read(name)
        .replace(/^import\s[^"]*"[^"]*"\n/gm, "")
        .replace(/^export /gm, "")
    )
    .join("\n")

const digest = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

const make = (): HttpServerResponse.HttpServerResponse => {
  const [style, script] = [read("page.css"), scriptOf(modules)]
  const html = read("page.html")
    .replace("<!--style-->", () => `<style>${style}</style>`)
    .replace("<!--script-->", () => `<script type="module">${script}</script>`)
  return HttpServerResponse.text(html, {
    contentType: "text/html; charset=utf-8",
    headers: {
      "cache-control": "no-store",
      "content-security-policy": [
        "default-src 'none'",
        `style-src ${digest(style)}`,
        `script-src ${digest(script)}`,
        "connect-src 'self'",
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

let made: HttpServerResponse.HttpServerResponse | undefined

/** The page. It is put together when it is first asked for, because most servers never show it. */
export const page = (): HttpServerResponse.HttpServerResponse => (made ??= make())
