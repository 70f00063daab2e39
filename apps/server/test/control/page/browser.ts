/**
 * A real Chromium with a page in it, for tests of what people see. It is the one of the system: none is downloaded.
 */
import { existsSync } from "node:fs"
import { Effect } from "effect"
import { chromium, type Page } from "playwright-core"

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const findChromium = (): string => {
  const found = places.find((path) => existsSync(path))
  if (found === undefined) throw new Error(`There is no Chromium here, at none of ${places.join(", ")}.`)
  return found
}

const flags = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

interface Visit {
  readonly page: Page
  /** Errors on the console of the page, and exceptions. */
  readonly complaints: ReadonlyArray<string>
  /** Requests to anywhere but the server. */
  readonly outside: ReadonlyArray<string>
}

interface VisitOptions {
  readonly width?: number
  readonly height?: number
  /** Host names that lead to this machine. */
  readonly localNames?: ReadonlyArray<string>
}

/** Opens a page of a server; browser and page go when the scope closes. */
export const visit = Effect.fnUntraced(function* (
  url: string,
  { height = 800, localNames = [], width = 1280 }: VisitOptions = {}
) {
  const resolver = localNames.map((name) => `MAP ${name} 127.0.0.1`).join(",")
  const args = [...flags, `--host-resolver-rules=${resolver}`]
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.launch({ executablePath: findChromium(), args })),
    (launched) => Effect.promise(() => launched.close())
  )
  const page = yield* Effect.promise(() => browser.newPage({ viewport: { width, height } }))
  page.setDefaultTimeout(10_000)
  const complaints: Array<string> = []
  const outside: Array<string> = []
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())))
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol !== "data:" && protocol !== "blob:" && origin !== new URL(url).origin) outside.push(request.url())
  })
  yield* Effect.promise(() => page.goto(url))
  return { page, complaints, outside } satisfies Visit
})
