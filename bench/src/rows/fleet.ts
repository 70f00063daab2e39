/** Measures the memory of a million nodes, and the CPU time of reading them against that of a thousand nodes. */
import { cpuPerRequest } from "../load.ts"
import { headers, type MockService, startMock } from "../mockService.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const million = 1_000_000
const thousand = 1_000
const pageSize = 20

/** Resident bytes per node: the difference between a million nodes and a thousand, both after a full load. */
export const memoryRow = (): Row => ({
  name: "server memory per node, of 1 000 000",
  subject: "berth-server",
  baseline: "limit",
  unit: "B",
  targets: [ratioAtMost(1)],
  pairs: 3,
  measure: async () => ({
    subject: ((await residentAt(million)) - (await residentAt(thousand))) / million,
    baseline: 300
  })
})

const residentAt = async (nodes: number): Promise<number> => {
  const mock = await startMock(nodes)
  await cpuPerRequest(mock, { urls: pagesOf(mock, nodes), headers, total: 20_000 })
  const bytes = mock.residentBytes()
  await mock.stop()
  return bytes
}

/** A thousand positions in the list, evenly spread and in no order. */
const places = (nodes: number, size: number): ReadonlyArray<number> =>
  Array.from({ length: 1000 }, (_, i) => Math.floor(((i * 617) % 1000) * (nodes / size / 1000)))

const pagesOf = ({ at }: MockService, nodes: number) =>
  places(nodes, pageSize).map((page) => at(`/nodes/?page_no=${page + 1}&per_page=${pageSize}`))

const nodesOf = ({ at, ids }: MockService, nodes: number) =>
  places(nodes, 1).map((place) => at(`/nodes/${ids[0]! + place}/`))

const fleetRow = async (
  name: string,
  urlsOf: (mock: MockService, nodes: number) => ReadonlyArray<URL>
): Promise<Row> => {
  const many = await startMock(million)
  const few = await startMock(thousand)
  const manyLoad = { urls: urlsOf(many, million), headers, total: 20_000 }
  const fewLoad = { urls: urlsOf(few, thousand), headers, total: 20_000 }
  for (let i = 0; i < 2; i++) {
    await cpuPerRequest(many, manyLoad)
    await cpuPerRequest(few, fewLoad)
  }
  return {
    name,
    subject: "1 000 000 nodes",
    baseline: "1000 nodes",
    unit: "µs",
    targets: [ratioAtMost(target)],
    pairs: 7,
    measure: async () => ({
      subject: await cpuPerRequest(many, manyLoad),
      baseline: await cpuPerRequest(few, fewLoad)
    }),
    close: async () => {
      await many.stop()
      await few.stop()
    }
  }
}

/** A thousand nodes fit into the processor's cache, but a million do not. */
const target = 1.5

/** `GET` of nodes all over the fleet. */
export const getOfMillionRow = () => fleetRow("server CPU, GET any node", nodesOf)

/** Pages of 20 all over the fleet. */
export const pageOfMillionRow = () => fleetRow("server CPU, any page of 20", pagesOf)
