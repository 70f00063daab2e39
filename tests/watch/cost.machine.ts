/** `berth cost --month` and `--since`, which ask a running daemon over its HTTP interface. */
import { TestServer } from "@berthkit/server/testing"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { json, run, settings } from "../cli/berth.ts"
import { Daemon } from "./Daemon.ts"
import { folder, wait } from "./Scene.ts"

layer(TestServer.layer(inDialect({ clock: "real", scenario: "small" })), { excludeTestServices: true })(
  "berth cost",
  (it) => {
    it.effect("prints what a daemon saw being spent, and metrics show the same", () =>
      Effect.gen(function* () {
        const daemon = yield* Daemon.start(["run", "--interval", "1s"])
        const { http } = yield* wait(() => daemon.ready())
        yield* wait(() => daemon.baseline())
        // Wait for the prices, because the daemon reads the catalogue after the nodes.
        const costs = () => fetch(`${http}/api/cost`).then((reply) => reply.json() as any)
        while ((yield* wait(costs)).accounts[0]?.spent.amountInr === 0) yield* Effect.sleep("200 millis")

        const bare = { BERTH_WATCH_URL: http!, XDG_STATE_HOME: yield* folder, XDG_CONFIG_HOME: yield* folder }
        const env = { ...(yield* settings), ...bare }
        const month = yield* run(["cost", "--month", "-o", "json"], { env })
        expect({ ...month, stdout: "" }).toMatchObject({ code: 0 })
        const [row] = json<Array<Record<string, any>>>(month)
        expect(row).toMatchObject({ account: "default", month: expect.stringMatching(/^\d{4}-\d\d$/), budgetInr: null })
        expect(row!["amountInr"]).toBeGreaterThan(0)
        expect(row!["minInr"]).toBeLessThanOrEqual(row!["amountInr"])
        expect(row!["forecastInr"]).toBeGreaterThan(row!["amountInr"])
        expect(row!["days"].length).toBeGreaterThan(0)

        const since = json<Array<Record<string, any>>>(yield* run(["cost", "--since", "1h", "-o", "json"], { env }))
        expect(since[0]).toMatchObject({ account: "default", month: null, forecastInr: null })
        // The same account in another spelling, another account of the service, another service, and no account.
        const there = (change: object, ...flags: ReadonlyArray<string>) =>
          run(["cost", "--month", ...flags], { env: { ...env, ...change } })
        const spelled = yield* there({ BERTH_BASE_URL: env.BERTH_BASE_URL.replace("127.0.0.1", "localhost") })
        expect(spelled).toMatchObject({
          code: 0,
          stderr: expect.stringContaining(`From the berth-watch at ${http}, which watches this account as default.`)
        })
        expect(row).toMatchObject({ watchUrl: http })
        for (const other of [{ BERTH_API_KEY: "another" }, { BERTH_BASE_URL: "https://example.com" }]) {
          expect(yield* there(other)).toMatchObject({
            code: 4,
            stdout: "",
            stderr: expect.stringContaining(`The berth-watch at ${http} does not watch this account, but default.`)
          })
        }
        expect(yield* run(["cost", "--month"], { env: bare })).toMatchObject({
          code: 0,
          stderr: expect.stringContaining("all its accounts, because no account is set here.")
        })
        const metrics = yield* wait(() => fetch(`${http}/metrics`).then((reply) => reply.text()))
        for (const name of ["month_to_date", "forecast"]) {
          const [, value] = new RegExp(`^berth_cost_${name}_inr\\{account="default"[^}]*\\} ([\\d.e+-]+)`, "m").exec(
            metrics
          )!
          expect(Number(value)).toBeGreaterThan(0)
        }
      })
    )

    it.effect("says how to start a daemon if none answers, and refuses an invalid month", () =>
      Effect.gen(function* () {
        const env = { BERTH_WATCH_URL: "http://127.0.0.1:1", XDG_STATE_HOME: yield* folder }
        const away = yield* run(["cost", "--month"], { env })
        expect(away).toMatchObject({ code: 7, stdout: "", stderr: expect.stringContaining("berth-watch run") })
        expect(yield* run(["cost", "--month", "2026-13"], { env })).toMatchObject({ code: 2, stdout: "" })
        expect(yield* run(["cost", "--month", "--since", "1h"], { env })).toMatchObject({ code: 2, stdout: "" })
      })
    )
  }
)
