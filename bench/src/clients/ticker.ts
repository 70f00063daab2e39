/**
 * Requests each page of a service with the promise client, and prints the longest time in milliseconds that the event loop was
 * blocked: `ticker.ts URL PAGES`.
 */
import { BerthError, createClient } from "@berthkit/core/promise"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout } from "node:timers/promises"

const [baseUrl = "", pages = ""] = process.argv.slice(2)

/** The longest delay during one page. Each page has its own client, because a circuit breaker would soon refuse the calls. */
const delayOf = async (page: number) => {
  const credentials = { apiKey: "a-key-of-some-length", accessToken: "a-token-of-some-length" }
  // One attempt measures the time to read a reply; retries would last until the deadline.
  await using client = createClient({ baseUrl, ...credentials, maxAttempts: 1 })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await setTimeout(5)
  const outcome = await client.raw
    .request({ method: "GET", path: "/nodes/", query: { page: String(page) } }, { deadline: "5 seconds" })
    .catch((error: unknown) => error)
  await setTimeout(5)
  delay.disable()
  if (!(outcome instanceof BerthError)) throw new Error(`page ${page} was accepted`)
  return delay.max / 1e6
}

// The first call loads and compiles the code.
await delayOf(0)
let longest = 0
for (let page = 0; page < Number(pages); page++) {
  // The reply delays every run, but other programs delay only some runs. So the minimum is the delay of the reply.
  const delays = [await delayOf(page), await delayOf(page), await delayOf(page)]
  longest = Math.max(longest, Math.min(...delays))
}
console.log(longest)
process.exit()
