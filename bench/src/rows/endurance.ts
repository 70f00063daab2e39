/** Measures endurance: the server's memory under a long load, and its CPU time next to thousands of idle connections. */
import { connect, type Socket } from "node:net"
import { lastQuarters } from "../growth.ts"
import { cpuPerRequest, run } from "../load.ts"
import { headers, type MockService, startMock } from "../mockService.ts"
import { ratioAtMost, type Row, Unmeasurable } from "../Row.ts"

const MB = 1024 * 1024

/** Resident memory in the last quarter of a full load, against the quarter before. */
export const soakRow = async (seconds: number): Promise<Row> => {
  const mock = await startMock(1000)
  const urls = [...mock.ids.map((id) => mock.at(`/nodes/${id}/`)), mock.at("/nodes/?per_page=20")]
  return {
    name: `server memory over ${seconds} s at full load`,
    subject: "last quarter",
    baseline: "third quarter",
    unit: "MB",
    targets: [ratioAtMost(1.02)],
    pairs: 1,
    measure: async () => {
      const samples: Array<number> = []
      const until = process.hrtime.bigint() + BigInt(seconds * 1e9)
      while (process.hrtime.bigint() < until) {
        await run({ urls, headers, total: 2_000 })
        samples.push(mock.residentBytes() / MB)
      }
      const { fourth, third } = lastQuarters(samples)
      return { subject: fourth, baseline: third }
    },
    close: mock.stop
  }
}

const idleConnections = 10_000

/** CPU time per request with ten thousand idle connections, against none. */
export const idleRow = async (): Promise<Row> => {
  const mock = await startMock(1000)
  const load = { urls: [mock.at(`/nodes/${mock.ids[0]}/`)], headers, total: 20_000 }
  await cpuPerRequest(mock, load)
  await cpuPerRequest(mock, load)
  return {
    name: `server CPU, GET node beside ${idleConnections} idle connections`,
    subject: "berth-server",
    baseline: "without idle connections",
    unit: "µs",
    targets: [ratioAtMost(1.5)],
    pairs: 3,
    measure: async () => {
      const baseline = await cpuPerRequest(mock, load)
      const idle = await openIdle(mock)
      const subject = await cpuPerRequest(mock, load)
      const closedEarly = idle.filter((socket) => socket.destroyed || socket.readableEnded).length
      for (const socket of idle) socket.destroy()
      if (closedEarly > 0) throw new Error(`${closedEarly} idle connections were closed during the measurement`)
      return { subject, baseline }
    },
    close: mock.stop
  }
}

const openIdle = async ({ url }: MockService): Promise<ReadonlyArray<Socket>> => {
  const { hostname, port } = new URL(url)
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket))
      socket.once("error", (error) =>
        reject(
          "code" in error && error.code === "EMFILE" ? new Unmeasurable("the limit of open files is too low") : error
        )
      )
      socket.resume()
    })
  const sockets: Array<Socket> = []
  while (sockets.length < idleConnections) sockets.push(...(await Promise.all(Array.from({ length: 250 }, open))))
  return sockets
}
