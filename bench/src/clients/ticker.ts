/**
 * Asks a service for each of its pages with the promise client, and prints the longest time in milliseconds that nothing else
 * could run meanwhile: `ticker.ts URL PAGES`.
 */
import { BerthError, createClient } from "@berth/core/promise"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout } from "node:timers/promises"

const [baseUrl = "", pages = ""] = process.argv.slice(2)

/** The longest delay while one page is asked for. A client of its own, for a breaker does not ask for long. */
const delayOf = async (page: number) => {
  const credentials = { apiKey: "a-key-of-some-length", accessToken: "a-token-of-some-length" }
  // One attempt shows how long a reply takes to read; all of them would last to the deadline.
  await using client = createClient({ baseUrl, ...credentials, maxAttempts: 1 })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await setTimeout(5)
  const outcome = await client.raw
    .request({ method: "GET", path: "/nodes/", query: { page: String(page) } }, { deadline: "5 seconds" })
    .catch((error: unknown) => error)
  await setTimeout(5)
  delay.disable()
  if (!(outcome instanceof BerthError)) throw new Error(`page ${page} was understood`)
  return delay.max / 1e6
}

// The first call loads and compiles what every other needs.
await delayOf(0)
let longest = 0
for (let page = 0; page < Number(pages); page++) {
  // What the reply is to blame for is there every time; what other programs are is not.
  const delays = [await delayOf(page), await delayOf(page), await delayOf(page)]
  longest = Math.max(longest, Math.min(...delays))
}
console.log(longest)
process.exit()
