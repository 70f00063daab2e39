/**
 * The page for people at `/_mock/`: the worlds, their nodes, the clock, the armed faults and the live journal. It is one
 * document that loads nothing from anywhere and holds no data: its script asks the control plane, with the token that its
 * reader types in where one is needed.
 */
import { htmlPage, scriptOf } from "@berthkit/web/htmlPage"
import { readAsset } from "@berthkit/web/readAsset"
import type { HttpServerResponse } from "effect/http"

const read = (name: string): string => readAsset(new URL(`./${name}`, import.meta.url))

/** The modules of the page, each after those that it imports. */
const modules = ["controlPlane.js", "forms.js", "panels.js", "dialogs.js", "page.js"]

let made: HttpServerResponse.HttpServerResponse | undefined

/** The page. It is put together when it is first asked for, because most servers never show it. */
export const page = (): HttpServerResponse.HttpServerResponse =>
  (made ??= htmlPage({ html: read("page.html"), style: read("page.css"), script: scriptOf(modules.map(read)) }))
