/**
 * `berth cost --month` asks the daemon that listens at the address. This daemon may watch another account or another service. The daemon
 * here is a stub with the replies of `berth-watch`; `tests/watch/cost.machine.ts` uses a real one.
 */
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "./berth.ts"
import { invoke } from "./invoke.ts"

const spend = {
  amountInr: 5,
  minInr: 5,
  maxInr: 5,
  errorInr: 0,
  assumedInr: 0,
  unpricedNodeHours: 0,
  unobservedMillis: 0
}

const accountOf = (account: string, fingerprint: string | null) => ({
  account,
  fingerprint,
  month: "2026-11",
  from: "2026-10-31T18:30:00.000Z",
  to: "2026-11-20T00:00:00.000Z",
  watchedSince: "2026-11-01T00:00:00.000Z",
  spent: spend,
  forecast: null,
  perHour: { minInr: 1, maxInr: 1 },
  budget: null,
  days: []
})

const daemon = (accounts: ReadonlyArray<unknown>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<ReturnType<typeof createServer>>((resolve) => {
            const server = createServer((_, reply) => reply.end(JSON.stringify({ now: "x", accounts })))
            server.listen(0, "127.0.0.1", () => resolve(server))
          })
      ),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

const environment = (baseUrl: string, apiKey = "mine") => ({
  BERTH_BASE_URL: baseUrl,
  BERTH_API_KEY: apiKey,
  BERTH_ACCESS_TOKEN: "token"
})

const fingerprint = (origin: string, apiKey = "mine") =>
  createHash("sha256")
    .update(JSON.stringify([origin, apiKey]))
    .digest("hex")
    .slice(0, 32)

describe("what was spent", () => {
  it.live("is that of this account, and names the daemon that saw it", () =>
    Effect.gen(function* () {
      const url = yield* daemon([
        accountOf("other", fingerprint("https://cloud.example", "other")),
        accountOf("elsewhere", fingerprint("https://cloud.example.org")),
        accountOf("new", null),
        accountOf("mine", fingerprint("https://cloud.example"))
      ])
      const cost = ["cost", "--month", "--watch-url", url]
      for (const address of [
        "https://cloud.example",
        "https://cloud.example/myaccount/api/v1",
        "https://cloud.example.:443"
      ]) {
        const ended = yield* invoke([...cost, "-o", "json"], { env: environment(address) })
        const rows = json<ReadonlyArray<Record<string, unknown>>>(ended)
        assert.deepStrictEqual(
          rows.map(({ account, watchUrl }) => [account, watchUrl]),
          [["mine", url]]
        )
        assert.notInclude(ended.stdout, fingerprint("https://cloud.example"))
      }
      const shown = yield* invoke(cost, { env: environment("https://cloud.example") })
      assert.include(shown.stderr, `From the berth-watch at ${url}, which watches this account as mine.`)
    }).pipe(Effect.scoped)
  )

  it.live("says how many hours have no price in rupees, also if they are few", () =>
    Effect.gen(function* () {
      for (const [unpricedNodeHours, text] of [
        [0.02, "less than 0.1 node-hours"],
        [3.25, "3.3 node-hours"]
      ] as const) {
        const account = accountOf("mine", fingerprint("https://cloud.example"))
        const url = yield* daemon([{ ...account, spent: { ...spend, unpricedNodeHours } }])
        const { stderr } = yield* invoke(["cost", "--month", "--watch-url", url], {
          env: environment("https://cloud.example")
        })
        assert.include(stderr, `mine: rupee prices for ${text} were not known`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is not that of another account, or of another service", () =>
    Effect.gen(function* () {
      const url = yield* daemon([accountOf("prod", fingerprint("https://cloud.example"))])
      const cost = ["cost", "--since", "7d", "--watch-url", url]
      for (const env of [environment("https://cloud.example", "other"), environment("https://other.example")]) {
        const ended = yield* invoke(cost, { env })
        assert.deepStrictEqual([ended.code, ended.stdout], [4, ""])
        assert.include(ended.stderr, `The berth-watch at ${url} does not watch this account, but prod.`)
      }
      const any = yield* invoke(cost, { env: { XDG_CONFIG_HOME: "/nowhere" } })
      assert.strictEqual(any.code, 0, any.stderr)
      assert.include(any.stderr, `From the berth-watch at ${url}: all its accounts, because no account is set here.`)
      const local = yield* daemon([accountOf("mock", fingerprint("http://127.0.0.1:8080"))])
      const spelled = yield* invoke(["cost", "--month", "--watch-url", local], {
        env: environment("http://localhost:8080")
      })
      assert.include(spelled.stderr, "watches this account as mock.")
    }).pipe(Effect.scoped)
  )
})
