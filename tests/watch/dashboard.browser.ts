/**
 * The dashboard of a real daemon that watches the mock: it shows what happens to nodes without a reload, even what happened while the
 * daemon was killed.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { TestServer } from "@berthkit/server/testing"
import { sees, visit } from "@berthkit/testing/browser"
import { freePort } from "@berthkit/testing/freePort"
import { clientOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { create } from "./polling.ts"

const service = Layer.provideMerge(
  Layer.unwrap(Effect.map(TestServer, (server) => clientOf(server))),
  TestServer.layer({ clock: "real", provisioning: "1500 millis", termination: "1500 millis", scenario: "small" })
)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-dashboard-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

layer(service, { excludeTestServices: true })("the dashboard of a daemon", (it) => {
  it.effect(
    "shows a node being created and deleted, without a reload and over the end of the daemon, with prices at once",
    () =>
      Effect.gen(function* () {
        const env = {
          // Both daemons have this address, and the page continues with the second one.
          BERTH_WATCH_LISTEN: `127.0.0.1:${yield* Effect.promise(freePort)}`,
          BERTH_WATCH_STORE: join(yield* folder, "watch.db")
        }
        const run = ["run", "--interval", "300ms", "--fast-interval", "300ms", "--grace", "300ms"]
        const first = yield* Daemon.start(run, env)
        yield* Effect.promise(() => first.baseline())
        const { complaints, outside, page, requests } = yield* visit(`http://${env.BERTH_WATCH_LISTEN}`)
        const total = page.locator("#total")
        const rowOf = (name: string) => page.getByRole("row", { name: new RegExp(`^${name} `) })
        yield* sees(page.getByText("live", { exact: true }).waitFor())
        const before = Number(yield* sees(total.textContent()))
        yield* sees(page.locator("#cost").getByText("₹").waitFor())

        const web = yield* create("fresh-web")
        yield* sees(rowOf("fresh-web").getByText("running", { exact: true }).waitFor())
        const gone = yield* create("short-lived")
        yield* sees(rowOf("short-lived").waitFor())
        yield* Nodes.use((nodes) => nodes.delete(gone))
        yield* sees(rowOf("short-lived").waitFor({ state: "detached" }))
        expect(Number(yield* sees(total.textContent()))).toBe(before + 1)

        yield* Effect.promise(() => first.program.kill("SIGKILL"))
        yield* sees(page.getByText("connection lost, trying again").waitFor())
        yield* Nodes.use((nodes) => nodes.delete(web))
        yield* create("between")
        const next = yield* Daemon.start(run, env)
        yield* Effect.promise(() => next.ready())
        yield* sees(page.getByText("live", { exact: true }).waitFor())
        yield* sees(rowOf("between").waitFor())
        yield* sees(rowOf("fresh-web").waitFor({ state: "detached" }))
        yield* sees(page.locator("#events li").getByText("fresh-web was deleted").waitFor())
        expect(requests.filter((request) => request === "GET /")).toHaveLength(1)
        expect(outside).toEqual([])
        // Chromium writes to the console that the daemon cannot be reached.
        expect(complaints.filter((text) => !text.includes("ERR_"))).toEqual([])

        // Prices come from the store, so the second daemon has them at once, even for a page that is opened now.
        const plans = yield* sees(
          page.evaluate<ReadonlyArray<unknown>>("fetch('/api/plans').then((reply) => reply.json())")
        )
        expect(plans.length).toBeGreaterThan(3)
      })
  )

  it.effect("is not live while the daemon stands still, and is when it goes on", () =>
    Effect.gen(function* () {
      const daemon = yield* Daemon.start(["run", "--interval", "300ms"])
      yield* Effect.promise(() => daemon.baseline())
      const { page } = yield* visit((yield* Effect.promise(() => daemon.ready())).http!)
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      daemon.program.signal("SIGSTOP")
      yield* sees(page.getByText("the daemon does not answer").waitFor())
      yield* sees(page.getByText("The daemon cannot be reached.").waitFor())
      daemon.program.signal("SIGCONT")
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      yield* sees(page.getByText("The daemon cannot be reached.").waitFor({ state: "detached" }))
      yield* create("after-all")
      yield* sees(page.getByRole("row", { name: /^after-all / }).waitFor())
    })
  )
})
