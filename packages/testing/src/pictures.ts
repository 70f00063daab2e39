/** Takes the pictures of a page that the docs show, one light and one dark. */
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { visit } from "./browser.ts"

const folder = fileURLToPath(new URL("../../../docs/pictures/", import.meta.url))

interface Picture {
  /** The beginning of the files' names. */
  readonly name: string
  readonly url: string
  readonly height: number
  /** Resolves when the page shows everything that belongs in the picture. */
  readonly ready: (page: Page) => Promise<unknown>
}

export const takePictures = Effect.fnUntraced(function* ({ height, name, ready, url }: Picture) {
  const { page } = yield* visit(url, { height })
  yield* Effect.promise(() => ready(page))
  for (const colorScheme of ["light", "dark"] as const) {
    yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
    yield* Effect.promise(() => page.screenshot({ path: `${folder}${name}-${colorScheme}.png` }))
  }
}, Effect.scoped)
