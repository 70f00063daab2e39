/** Measures the CPU time per request of the mock service, against a bare `node:http` server that answers with the same bytes. */
import { fileURLToPath } from "node:url"
import { cpuPerRequest } from "../load.ts"
import { headers, type MockService, startMock } from "../mockService.ts"
import { ask, startServer } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const total = 30_000
const bareServer = fileURLToPath(new URL("../bareServer.ts", import.meta.url))

const cpuRow = async (name: string, urlOf: (mock: MockService) => URL, target: number): Promise<Row> => {
  const mock = await startMock(1000)
  const url = urlOf(mock)
  const reply = await ask(url, { headers })
  const bare = await startServer([bareServer], {
    input: JSON.stringify({ headers: reply.headers, body: reply.body.toString("base64") })
  })
  const mockLoad = { urls: [url], headers, total }
  const bareLoad = { urls: [new URL(url.pathname + url.search, bare.url)], headers, total }
  // Warms up both.
  for (let i = 0; i < 2; i++) {
    await cpuPerRequest(mock, mockLoad)
    await cpuPerRequest(bare, bareLoad)
  }
  return {
    name,
    subject: "berth-server",
    baseline: "bare node:http",
    unit: "µs",
    targets: [ratioAtMost(target)],
    pairs: 9,
    measure: async () => ({
      subject: await cpuPerRequest(mock, mockLoad),
      baseline: await cpuPerRequest(bare, bareLoad)
    }),
    close: async () => {
      await mock.stop()
      await bare.stop()
    }
  }
}

/** CPU of `GET` of one node. */
export const getRow = () => cpuRow("server CPU, GET node", ({ at, ids }) => at(`/nodes/${ids[0]}/`), 2.5)

/** CPU of a list of 20. */
export const listRow = () => cpuRow("server CPU, list of 20", ({ at }) => at("/nodes/?per_page=20"), 2)
