/**
 * Measures the heap of a daemon that watches 100 000 nodes, through the inspector. The memory per node is the reachable memory beyond
 * that of a daemon with 1000 nodes. Also measures the peak during sweeps.
 */
import { startMock } from "../mockService.ts"
import { type Row, ratioAtMost } from "../Row.ts"
import { startDaemon, type WatchDaemon } from "../watchDaemon.ts"

const many = 100_000
const few = 1000

/** 200 pages a second: a sweep takes five seconds. */
const flags = ["--interval", "1s", "--requests-per-hour", "720000"]

/** The reachable memory is read at instants spread over more than one sweep. */
const readings = 24
const pauseMillis = 250

const reachable = async (daemon: WatchDaemon): Promise<ReadonlyArray<number>> => {
  const bytes: Array<number> = []
  for (let i = 0; i < readings; i++) {
    bytes.push(await daemon.heapBytes({ isCollected: true }))
    await new Promise((resolve) => setTimeout(resolve, pauseMillis))
  }
  return bytes
}

const daemonWith = async (nodes: number) => {
  const mock = await startMock(nodes)
  const daemon = await startDaemon(mock, { flags, isInspected: true })
  const close = async () => {
    await daemon.stop()
    await mock.stop()
  }
  return { daemon, close }
}

/** The lowest reading falls between two sweeps, when no sweep holds memory. */
export const watchMemoryRow = async (): Promise<Row> => {
  const small = await daemonWith(few)
  const base = Math.min(...(await reachable(small.daemon)))
  await small.close()
  const { close, daemon } = await daemonWith(many)
  return {
    name: "daemon, heap per node of 100 000",
    subject: "berth-watch",
    baseline: "limit",
    unit: "B",
    targets: [ratioAtMost(1)],
    pairs: 3,
    measure: async () => ({
      subject: (Math.min(...(await reachable(daemon))) - base) / (many - few),
      baseline: 1536
    }),
    close
  }
}

/** Counts only memory that a sweep keeps, because V8 chooses how much it reserves for garbage. */
export const watchPeakRow = async (): Promise<Row> => {
  const { close, daemon } = await daemonWith(many)
  return {
    name: "daemon, heap during a sweep of 100 000",
    subject: "peak",
    baseline: "between sweeps",
    unit: "MiB",
    targets: [ratioAtMost(1.2)],
    pairs: 3,
    measure: async () => {
      const bytes = await reachable(daemon)
      return { subject: Math.max(...bytes) / 2 ** 20, baseline: Math.min(...bytes) / 2 ** 20 }
    },
    close
  }
}
