/**
 * Measures 2000 accounts of 100 nodes, swept once a minute: the CPU time and the memory of one process, and how the work of each process
 * shrinks with the number of processes.
 */
import { type Row, ratioAtMost } from "../Row.ts"
import { startFleet, type WatchFleet } from "../watchFleet.ts"

const accounts = 2000

/** Two sweeps of each account. */
const measuredMillis = 120_000

/** CPU time per second of each process and of the server of the store, in milliseconds. */
const cpuPerSecond = async ({ cpuMicros, serverMicros }: WatchFleet) => {
  const [before, server, at] = [cpuMicros(), serverMicros(), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, measuredMillis))
  const millis = performance.now() - at
  return {
    processes: cpuMicros().map((micros, index) => (micros - before[index]!) / millis),
    server: (serverMicros() - server) / millis
  }
}

/** The CPU time of one process per second. */
export const watchAccountsCpuRow = async (): Promise<Row> => {
  const fleet = await startFleet(accounts, 1)
  return {
    name: "daemon, CPU of 2000 accounts per second",
    subject: "berth-watch",
    baseline: "limit",
    unit: "ms",
    targets: [ratioAtMost(1)],
    pairs: 2,
    measure: async () => {
      const { processes, server } = await cpuPerSecond(fleet)
      console.error(`PostgreSQL: ${server.toFixed(0)} ms a second. Resident: ${megabytes(fleet)} MB.`)
      return { subject: processes[0]!, baseline: 600 }
    },
    close: fleet.stop
  }
}

const megabytes = ({ residentBytes }: WatchFleet) => residentBytes().map((bytes) => Math.round(bytes / 1e6))

export const watchAccountsMemoryRow = async (): Promise<Row> => {
  const fleet = await startFleet(accounts, 1)
  return {
    name: "daemon, memory of 2000 accounts",
    subject: "resident",
    baseline: "limit",
    unit: "MB",
    targets: [ratioAtMost(1)],
    pairs: 1,
    measure: () => ({ subject: megabytes(fleet)[0]!, baseline: 1000 }),
    close: fleet.stop
  }
}

/** The work of the busiest process, divided by its share of the work of one process alone. */
export const watchGrowthRow = async (processes: number): Promise<Row> => {
  const one = await startFleet(accounts, 1)
  const alone = await cpuPerSecond(one)
  await one.stop()
  const fleet = await startFleet(accounts, processes)
  return {
    name: `daemon, CPU of each of ${processes} processes of 2000 accounts`,
    subject: "the busiest",
    baseline: `a ${processes}th of one alone`,
    unit: "ms",
    targets: [ratioAtMost(1.15)],
    pairs: 1,
    measure: async () => {
      const each = await cpuPerSecond(fleet)
      console.error(
        `Accounts: ${(await fleet.accounts()).join(", ")}. CPU: ${each.processes.map((millis) => millis.toFixed(0)).join(", ")} ms a second, PostgreSQL ${each.server.toFixed(0)} (${alone.server.toFixed(0)} with one process).`
      )
      return { subject: Math.max(...each.processes), baseline: alone.processes[0]! / processes }
    },
    close: fleet.stop
  }
}
