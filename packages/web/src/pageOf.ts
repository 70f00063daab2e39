/**
 * A page for people as one document that loads nothing and runs only its own script. The build makes one script and one style
 * sheet from the sources for the browser. Browsers that already have the current version get a 304.
 */
import { hash } from "node:crypto"
import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import { readBuilt } from "./readBuilt.ts"

export interface PageOptions {
  readonly title: string
  /** What browsers without scripts show: where to find the same data. */
  readonly withoutScript: string
  /** `import.meta.url` of a module of the app that owns the page. */
  readonly from: string
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='4' fill='%230b5cad'/%3E" +
  "%3Cpath d='M5 3.5v9h3.4a2.6 2.6 0 0 0 .7-5.1A2.3 2.3 0 0 0 7.8 3.5Z' fill='none' stroke='white' stroke-width='1.7'/%3E" +
  "%3Cpath d='M5 7.6h3.4' stroke='white' stroke-width='1.7'/%3E%3C/svg%3E"

const documentOf = ({ title, withoutScript }: PageOptions, style: string, script: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#f5f6f8" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0f1319" media="(prefers-color-scheme: dark)">
<link rel="icon" href="${icon}">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript><p>${withoutScript}</p></noscript>
<script type="module">${script}</script>
</body>
</html>
`

const digest = (text: string): string => `'sha256-${hash("sha256", text, "base64")}'`

const make = (options: PageOptions) => {
  const style = readBuilt("page.css", options.from)
  const script = readBuilt("page.js", options.from)
  const text = documentOf(options, style, script)
  const etag = `"${hash("sha256", text, "base64url")}"`
  const headers = {
    // The page holds no data, so browsers may cache it. They must ask each time whether it is still the current version.
    "cache-control": "no-cache",
    etag,
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
  return {
    etag,
    whole: HttpServerResponse.text(text, { contentType: "text/html; charset=utf-8", headers }),
    unchanged: HttpServerResponse.empty({ status: 304, headers })
  }
}

/**
 * Answers requests for the page. The document is put together at the first request, because most servers never show their
 * page.
 */
export const pageOf = (options: PageOptions) => {
  let made: ReturnType<typeof make> | undefined
  return ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">): HttpServerResponse.HttpServerResponse => {
    made ??= make(options)
    const { etag, unchanged, whole } = made
    const known = headers["if-none-match"]?.split(",").map((each) => each.trim().replace(/^W\//, ""))
    return known?.includes(etag) === true ? unchanged : whole
  }
}
