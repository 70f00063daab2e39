/**
 * A real Chromium with a page in it, for tests of what people see.
 */
import axe, { type AxeResults } from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { launchChromium } from "./Chromium.ts"

interface Visit {
  readonly page: Page
  /** Errors on the console of the page, exceptions, and violations of its content security policy. */
  readonly complaints: ReadonlyArray<string>
  /** What the page has asked for, as `GET /path`. */
  readonly requests: ReadonlyArray<string>
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
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => launchChromium([`--host-resolver-rules=${resolver}`])),
    (launched) => Effect.promise(() => launched.close())
  )
  const page = yield* Effect.promise(() => browser.newPage({ viewport: { width, height } }))
  page.setDefaultTimeout(120_000)
  const complaints: Array<string> = []
  const outside: Array<string> = []
  const requests: Array<string> = []
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())))
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("request", (request) => {
    const { origin, pathname, protocol } = new URL(request.url())
    requests.push(`${request.method()} ${pathname}`)
    if (protocol !== "data:" && protocol !== "blob:" && origin !== new URL(url).origin) outside.push(request.url())
  })
  yield* Effect.promise(() => page.addInitScript(reportViolations))
  yield* Effect.promise(() => page.goto(url))
  return { page, complaints, outside, requests } satisfies Visit
})

/** Not all violations are on the console. */
const reportViolations = `addEventListener("securitypolicyviolation", (event) =>
  console.error("violates " + event.violatedDirective + ": " + event.blockedURI + " " + event.sample))`

/** Waits until the page has what is expected. */
export const sees = <A>(promise: Promise<A>): Effect.Effect<A> => Effect.promise(() => promise)

export const isWiderThanScreen = (page: Page) =>
  Effect.promise(() => page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))

/** What axe finds on a page that is serious or critical, light and dark, on a phone and on a desk. */
export const seriousFindings = Effect.fnUntraced(function* (page: Page, widths: ReadonlyArray<number> = [390, 1280]) {
  const findings: Array<string> = []
  yield* Effect.promise(() => page.evaluate(axe.source))
  for (const colorScheme of ["light", "dark"] as const) {
    yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
    for (const width of widths) {
      yield* Effect.promise(() => page.setViewportSize({ width, height: 844 }))
      const { violations } = yield* Effect.promise(() =>
        page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })")
      )
      for (const { id, impact, nodes } of violations) {
        if (impact !== "serious" && impact !== "critical") continue
        for (const { html } of nodes) findings.push(`${colorScheme} ${width} ${id}: ${html.slice(0, 200)}`)
      }
    }
  }
  return findings
})
