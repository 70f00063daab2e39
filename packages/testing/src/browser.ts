/**
 * A real Chromium with a page in it, for tests of what people see.
 */
import axe, { type AxeResults } from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { launchChromium } from "./Chromium.ts"

interface Visit {
  readonly page: Page
  /** Errors on the page's console, exceptions, and violations of its content security policy. */
  readonly complaints: ReadonlyArray<string>
  /** The requests of the page to any server, as `GET /path`. */
  readonly requests: ReadonlyArray<string>
  /** The URLs of those requests that go to another server than the page's. */
  readonly outside: ReadonlyArray<string>
}

interface VisitOptions {
  readonly width?: number
  readonly height?: number
}

/** Opens a page of a server. Browser and page close with the scope. */
export const visit = Effect.fnUntraced(function* (url: string, { height = 800, width = 1280 }: VisitOptions = {}) {
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => launchChromium()),
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

/** Reports violations of the content security policy, because some of them do not appear on the console. */
const reportViolations = `addEventListener("securitypolicyviolation", (event) =>
  console.error("violates " + event.violatedDirective + ": " + event.blockedURI + " " + event.sample))`

/** Waits until an expectation about the page holds. */
export const sees = <A>(promise: Promise<A>): Effect.Effect<A> => Effect.promise(() => promise)

export const isWiderThanScreen = (page: Page) =>
  Effect.promise(() => page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth"))

/** The serious and critical findings of axe on a page, light and dark, at phone and desktop size. */
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
