/**
 * Reads and parses the pages of a list in turn with plain `node:http`, 200 a second, until it is stopped: `node pager.ts URL PAGES`. The
 * URL lacks only the number of the page.
 */
import { Agent, get } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"

const [url, pages] = [process.argv[2]!, Number(process.argv[3])]
const pauseMillis = 5
const agent = new Agent({ keepAlive: true })
const headers = { authorization: "Bearer token" }

const read = async (page: number) => {
  const body = await new Promise<string>((resolve, reject) => {
    get(`${url}&page_no=${page}`, { agent, headers }, (response) => text(response).then(resolve, reject)).once(
      "error",
      reject
    )
  })
  return JSON.parse(body)
}

for (let page = 0; ; page = (page + 1) % pages) {
  const due = performance.now() + pauseMillis
  await read(page + 1)
  await setTimeout(Math.max(0, due - performance.now()))
}
