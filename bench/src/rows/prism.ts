/** Compares the mock service with Prism, which serves the OpenAPI description of the same interface. */
import { prefix } from "@berthkit/core/api/Routes"
import { run } from "../load.ts"
import { headers, startMock } from "../mockService.ts"
import { binary, startServer } from "../processes.ts"
import { installPrism, startPrism } from "../prism.ts"
import { ratioAtLeast, ratioAtMost, type Row, subjectAtMost } from "../Row.ts"

const prismName = "Prism 5.14.2"

/** From the start of the process to its ready line. */
export const readyRow = async (): Promise<Row> => {
  installPrism()
  const measure = async () => {
    const mock = await startServer([binary("server", "berth-server"), "--port", "0"])
    await mock.stop()
    const prism = await startPrism()
    await prism.stop()
    return { subject: mock.readyMillis, baseline: prism.readyMillis }
  }
  await measure() // fills the compile cache, like the first start after an install
  return {
    name: "server start to ready line",
    subject: "berth-server",
    baseline: prismName,
    unit: "ms",
    targets: [subjectAtMost(450), ratioAtMost(0.3)],
    pairs: 11,
    measure
  }
}

/** Requests per second for a node, 8 at a time. */
export const throughputRow = async (): Promise<Row> => {
  installPrism()
  const [mock, prism] = [await startMock(1000), await startPrism()]
  const mockLoad = { urls: [mock.at(`/nodes/${mock.ids[0]}/`)], headers, total: 20_000 }
  const prismLoad = { urls: [new URL(`${prefix}/nodes/1/?apikey=key`, prism.url)], headers, total: 3_000 }
  const measure = async () => ({
    subject: mockLoad.total / (await run(mockLoad)),
    baseline: prismLoad.total / (await run(prismLoad))
  })
  await measure()
  return {
    name: "server throughput, GET node",
    subject: "berth-server",
    baseline: prismName,
    unit: "requests/s",
    targets: [ratioAtLeast(4)],
    pairs: 7,
    measure,
    close: async () => {
      await mock.stop()
      await prism.stop()
    }
  }
}
