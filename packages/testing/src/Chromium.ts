/** A real Chromium, for tests of what happens in a page. The tests use the browser of the system, and download nothing. */
import { existsSync } from "node:fs"
import { type Browser, chromium, type LaunchOptions } from "playwright-core"

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const flags = [
  "--no-sandbox",
  "--headless",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Names of other sites lead to this machine.
  "--host-resolver-rules=MAP *.test 127.0.0.1"
]

/** Has the address of the browser that all files of a run share. */
const variable = "BERTH_TEST_CHROMIUM"

const options = (): LaunchOptions => {
  const executablePath = places.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`There is no Chromium here, at none of ${places.join(", ")}.`)
  return { executablePath, args: flags }
}

/** A browser without cookies, caches and pages of others. Rejects if the system has no Chromium. */
export const launchChromium = async (): Promise<Browser> => {
  const shared = process.env[variable]
  return shared === undefined ? chromium.launch(options()) : chromium.connect(shared)
}

/** Vitest runs this once. It starts one Chromium for all visits of the run, because each start takes two seconds of processor time. */
export const setup = async (): Promise<() => Promise<void>> => {
  const server = await chromium.launchServer({ ...options(), host: "127.0.0.1" })
  process.env[variable] = server.wsEndpoint()
  return () => server.close()
}
