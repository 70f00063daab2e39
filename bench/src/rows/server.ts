/**
 * CPU per request of the mock service, against a bare `node:http` that answers the same bytes.
 */
import { fileURLToPath } from "node:url"
import { prefix } from "@berth/core/api/BerthApi"
import { binary, cpuPerRequest, get, startServer } from "../processes.ts"
import type { Row } from "../Row.ts"

const requests = 12_000
const bareServer = fileURLToPath(new URL("../bareServer.ts", import.meta.url))

const serverRow = async (name: string, path: (ids: ReadonlyArray<number>) => string, target: number): Promise<Row> => {
  const args = ["--port", "0", "--scenario", "fleet:1000", "--rate-limit", "1000000/1h", "--account", "key:token"]
  const mock = await startServer([binary("server", "berth-server"), ...args])
  const headers = { authorization: "Bearer token" }
  const address = (base: string, at: string) => new URL(`${prefix}${at}${at.includes("?") ? "&" : "?"}apikey=key`, base)
  const list = await get(address(mock.ready.url, "/nodes/?per_page=20"), headers)
  const ids: ReadonlyArray<number> = JSON.parse(list.body.toString()).data.map(({ id }: { id: number }) => id)
  const url = address(mock.ready.url, path(ids))
  const reply = await get(url, headers)
  const bare = await startServer(
    [bareServer],
    JSON.stringify({ headers: reply.headers, body: reply.body.toString("base64") })
  )
  const bareUrl = new URL(url.pathname + url.search, bare.ready.url)
  await cpuPerRequest(mock, url, headers, requests)
  await cpuPerRequest(bare, bareUrl, headers, requests)
  return {
    name,
    subject: "berth-server",
    baseline: "bare node:http",
    unit: "µs",
    target,
    pairs: 5,
    measure: async () => ({
      subject: await cpuPerRequest(mock, url, headers, requests),
      baseline: await cpuPerRequest(bare, bareUrl, headers, requests)
    }),
    close: async () => {
      await mock.stop()
      await bare.stop()
    }
  }
}

/** CPU of `GET` of one node. */
export const getRow = () => serverRow("server CPU, GET node", (ids) => `/nodes/${ids[0]}/`, 2.5)

/** CPU of a list of 20. */
export const listRow = () => serverRow("server CPU, list of 20", () => "/nodes/?per_page=20", 2)
