/**
 * The page for people at `/`: one document that loads nothing from anywhere and holds no data. Its script asks the daemon, with
 * the cookie of its reader where a token is needed.
 */
import { readFileSync } from "node:fs"
import { htmlPage, scriptOf } from "@berth/web/htmlPage"
import type { HttpServerResponse } from "effect/http"

/** The bundle has these files beside it, as this file has. */
const read = (name: string): string => readFileSync(new URL(`./${name}`, import.meta.url), "utf8")

/** The modules of the page, each after those that it imports. */
const modules = ["connection.js", "wording.js", "model.js", "nodeRows.js", "timeline.js", "overview.js", "dashboard.js"]

let made: HttpServerResponse.HttpServerResponse | undefined

/** The page. It is put together when it is first asked for, because many daemons never show it. */
export const page = (): HttpServerResponse.HttpServerResponse =>
  (made ??= htmlPage({
    html: read("dashboard.html"),
    style: read("dashboard.css"),
    script: scriptOf(modules.map(read))
  }))
