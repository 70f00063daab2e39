/** Measures the cost of making a world for a test. */
import { startMock } from "../mockService.ts"
import { ask } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const worlds = 200

/** Wall time per `POST /_mock/worlds`, each for a small world. */
export const worldRow = async (): Promise<Row> => {
  const mock = await startMock(1)
  const url = new URL("/_mock/worlds", mock.url)
  const make = async (seed: number) => {
    const body = JSON.stringify({ seed, clock: "frozen", scenario: "small" })
    const reply = await ask(url, { method: "POST", headers: { "content-type": "application/json" }, body })
    if (reply.status >= 300) throw new Error(`POST /_mock/worlds was answered with ${reply.status}: ${reply.body}`)
    return JSON.parse(reply.body.toString()).id as string
  }
  const measure = async () => {
    const startedAt = process.hrtime.bigint()
    const ids = []
    for (let i = 0; i < worlds; i++) ids.push(await make(i))
    const subject = Number(process.hrtime.bigint() - startedAt) / 1e6 / worlds
    for (const id of ids) await ask(new URL(`/_mock/worlds/${id}`, mock.url), { method: "DELETE" })
    return { subject, baseline: 2 }
  }
  await measure()
  return {
    name: "making a world",
    subject: "POST /_mock/worlds",
    baseline: "limit",
    unit: "ms",
    targets: [ratioAtMost(1)],
    pairs: 9,
    measure,
    close: mock.stop
  }
}
