/** A real Chromium, for tests of what happens in a page. The tests use the browser of the system, and download nothing. */
import { existsSync } from "node:fs"
import { type Browser, chromium } from "playwright-core"

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const flags = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Starts Chromium with additional flags. Rejects if the system has none. */
export const launchChromium = async (further: ReadonlyArray<string> = []): Promise<Browser> => {
  const executablePath = places.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`There is no Chromium here, at none of ${places.join(", ")}.`)
  return chromium.launch({ executablePath, args: [...flags, ...further] })
}
