/**
 * Starts `berth-watch run` for the rows about many accounts: several processes of the bundle on one PostgreSQL and one mock. The mock has
 * a world of 100 nodes for each account, and each account is swept once a minute.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Postgres } from "@berthkit/testing/Postgres"
import { Program } from "@berthkit/testing/Program"
import { startMock } from "./mockService.ts"
import { binary, cpuMicros, familyMicros, residentBytes } from "./processes.ts"

export interface WatchFleet {
  /** CPU time of each process. */
  readonly cpuMicros: () => ReadonlyArray<number>
  readonly residentBytes: () => ReadonlyArray<number>
  /** CPU time of all processes of the store's server. */
  readonly serverMicros: () => number
  /** The number of accounts of each process. */
  readonly accounts: () => Promise<ReadonlyArray<number>>
  readonly stop: () => Promise<void>
}

/** 2000 accounts start one after the other, 20 a second on an idle machine. */
const maxStartMillis = 900_000

/**
 * The bound that `docs/several-machines.md` recommends for this many accounts. Without a bound, Node uses more memory if the machine has
 * it.
 */
const heapBound = "--max-old-space-size=800"

/** Accounts begin with two sweeps and their catalogue. This long after the last account started, the load is steady. */
const settleMillis = 120_000

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const isReady = (http: string): Promise<boolean> =>
  fetch(new URL("/readyz?fleet", http)).then(
    ({ ok }) => ok,
    () => false
  )

export const startFleet = async (accounts: number, processes: number): Promise<WatchFleet> => {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-"))
  const postgres = await Postgres.make({ settings: ["max_connections=200"] })
  const mock = await startMock(1)
  const env: Record<string, string> = { NODE_OPTIONS: heapBound, DATABASE_URL: postgres.url(), XDG_STATE_HOME: folder }
  const lines: Array<string> = []
  for (let i = 0; i < accounts; i++) {
    const reply = await fetch(new URL("/_mock/worlds", mock.url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ seed: i, scenario: "fleet:100", clock: "real" })
    })
    const { accessToken, apiKey }: any = await reply.json()
    Object.assign(env, { [`KEY${i}`]: apiKey, [`TOKEN${i}`]: accessToken })
    lines.push(
      `  - { name: a${i}, baseUrl: "${mock.url}", apiKey: { env: KEY${i} }, accessToken: { env: TOKEN${i} }, interval: 1m }`
    )
  }
  const config = join(folder, "watch.yml")
  writeFileSync(
    config,
    `store: { env: DATABASE_URL }\nlisten: 127.0.0.1:0\naccounts:\n${lines.join("\n")}\nsinks: []\n`
  )
  const args = [binary("watch", "berth-watch"), "run", "--config", config]
  const programs = Array.from({ length: processes }, () => new Program(process.execPath, args, { env, cwd: folder }))
  const urls: Array<string> = []
  for (const program of programs) urls.push(JSON.parse(await program.printed(/^\{.*\}$/m, "stderr")).http)
  const until = performance.now() + maxStartMillis
  while (!(await isReady(urls[0]!))) {
    if (performance.now() > until) throw new Error(`the accounts are not swept: ${programs[0]!.output}`)
    await wait(2000)
  }
  await wait(settleMillis)
  return {
    cpuMicros: () => programs.map(({ child }) => cpuMicros(child)),
    residentBytes: () => programs.map(({ child }) => residentBytes(child)),
    serverMicros: () => familyMicros(postgres.pid!),
    accounts: async () => {
      const reply = await fetch(new URL("/api/processes", urls[0]))
      const all = (await reply.json()) as ReadonlyArray<{ readonly accounts: number }>
      return all.map((each) => each.accounts)
    },
    stop: async () => {
      for (const program of programs) await program.kill("SIGTERM")
      await mock.stop()
      await postgres[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    }
  }
}
