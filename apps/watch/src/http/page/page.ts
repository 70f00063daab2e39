/**
 * The page for people at `/`: one document that loads nothing from anywhere and holds no data. Its script asks the daemon, with
 * the cookie of its reader where a token is needed.
 */
import { htmlPage, scriptOf } from "@berthkit/web/htmlPage"
import { readAsset } from "@berthkit/web/readAsset"
import type { HttpServerResponse } from "effect/http"
import { sentencesScript } from "../../events/sentencesScript.ts"

const read = (name: string): string => readAsset(new URL(`./${name}`, import.meta.url))

/** The modules of the page, each after those that it imports; the sentences of events come before them. */
const modules = [
  "scheme.js",
  "wording.js",
  "parts.js",
  "model.js",
  "connection.js",
  "nodeRows.js",
  "timeline.js",
  "details.js",
  "overview.js",
  "spending.js",
  "fleet.js",
  "deadLetters.js",
  "silences.js",
  "troubles.js",
  "dashboard.js"
]

/** The style sheets, in the order in which they count. */
const styles = ["dashboard.css", "panels.css", "spending.css", "rows.css", "narrow.css"]

let made: HttpServerResponse.HttpServerResponse | undefined

/** The page. It is put together when it is first asked for, because many daemons never show it. */
export const page = (): HttpServerResponse.HttpServerResponse =>
  (made ??= htmlPage({
    html: read("dashboard.html"),
    style: styles.map(read).join("\n"),
    script: scriptOf([sentencesScript(), ...modules.map(read)])
  }))
