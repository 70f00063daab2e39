/** The dashboard of one of three daemons on one PostgreSQL, while another daemon is killed. */
import { TestServer } from "@berthkit/server/testing"
import { isWiderThanScreen, sees, seriousFindings, visit } from "@berthkit/testing/browser"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Daemon } from "./Daemon.ts"
import { makeFleet } from "./faltering.ts"
import { wait } from "./Scene.ts"

/** The longest time from the end of a process until the dashboard shows the new owners of its accounts. */
const maxShownMillis = 15_000

interface Shown {
  readonly account: string
  readonly owner: string
  readonly from: string
}

/** The process that the page shows for each account, and the process from which it was taken over. */
const shownOwners = `Array.from(document.querySelectorAll("#owners tr"), ({ cells }) => {
  const [account, owner, , from] = Array.from(cells, ({ textContent }) => textContent)
  return { account, owner, from }
})`

layer(TestServer.layer({ clock: "real" }), { excludeTestServices: true })("the dashboard of several daemons", (it) => {
  it.effect("continues if another process is killed, names its successor, and says that their store is away", () =>
    Effect.gen(function* () {
      const { config, env, postgres, worlds } = yield* makeFleet(6)
      const start = Daemon.start(["run", "--config", config, "--fast-interval", "200ms"], env)
      const daemons = [yield* start, yield* start, yield* start] as const
      for (const daemon of daemons) yield* wait(() => daemon.ready())
      const { http } = yield* wait(() => daemons[0].ready())
      const { complaints, outside, page, requests } = yield* visit(http!)
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      const fleet = page.getByRole("region", { name: "Processes" })
      yield* sees(fleet.locator("#processes li").nth(2).waitFor())
      yield* sees(fleet.getByText("Who watches which account", { exact: true }).click())
      yield* sees(fleet.locator("#owners tr").nth(5).waitFor())
      const here = fleet.locator("#processes li", { hasText: "this page" })
      expect(yield* sees(here.textContent())).toContain(`:${daemons[0].program.child.pid}:`)

      // The engine distributes the accounts a moment after the last process has started, and at random. With six accounts, one process may
      // have none.
      const elsewhere = daemons.slice(1).map(({ program }) => program.child.pid)
      const rows = fleet.locator("#owners tr", { hasText: new RegExp(`:(${elsewhere.join("|")}):`) })
      yield* sees(rows.first().waitFor())
      const before = yield* sees(page.evaluate<ReadonlyArray<Shown>>(shownOwners))
      const others = daemons
        .slice(1)
        .filter(({ program }) => before.some(({ owner }) => owner.includes(`:${program.child.pid}:`)))
      const { program } = others[0]!
      const dead = before.filter(({ owner }) => owner.includes(`:${program.child.pid}:`))
      program.signal("SIGKILL")
      const stopwatch = startStopwatch()
      for (const { account, owner } of dead) {
        const row = fleet.getByRole("row", { name: new RegExp(`^${account} (?!${owner}).* ${owner} `) })
        yield* sees(row.waitFor())
        stopwatch.expectBelow(maxShownMillis)
      }
      yield* sees(fleet.locator("#processes li").nth(2).waitFor({ state: "detached" }))
      const after = yield* sees(page.evaluate<ReadonlyArray<Shown>>(shownOwners))
      expect(
        after.filter(({ from, account }) => dead.some((was) => was.account === account && was.owner === from)).length
      ).toBe(dead.length)

      const alive = daemons.filter((daemon) => daemon.program !== program)
      const askAll = (path: string) =>
        wait(() =>
          Promise.all(
            alive.map((each) =>
              each
                .ready()
                .then(({ http }) => fetch(`${http}${path}`))
                .then((reply) => reply.text())
            )
          )
        )
      const processes = (yield* askAll("/api/processes")).map((text) => JSON.parse(text))
      expect(processes[0]).toMatchObject(alive.map(() => ({ isHeard: true })))
      expect(processes[1].map(({ process }: any) => process)).toEqual(processes[0].map(({ process }: any) => process))
      const shards = Effect.map(askAll("/metrics"), (texts) =>
        texts.reduce((sum, text) => sum + Number(/^berth_shards (\d+)/m.exec(text)![1]), 0)
      )
      while ((yield* shards) !== 300) yield* Effect.sleep("100 millis")

      const taken = worlds[Number(dead[0]!.account.slice(1))]!
      const [node] = yield* Effect.orDie(taken.control.nodes.list({ params: { world: taken.id }, query: { count: 1 } }))
      const status = node!.status === "running" ? "power-off" : "running"
      yield* Effect.orDie(
        taken.control.nodes.change({ params: { world: taken.id, id: node!.id }, payload: { status } })
      )
      yield* sees(
        page
          .locator("#events li")
          .filter({ hasText: node!.name })
          .filter({ hasText: dead[0]!.account })
          .first()
          .waitFor()
      )
      yield* sees(page.getByText("live", { exact: true }).waitFor())

      expect(requests.filter((request) => request === "GET /")).toHaveLength(1)
      expect({ complaints, outside }).toEqual({ complaints: [], outside: [] })
      expect(yield* seriousFindings(page)).toEqual([])
      yield* sees(page.setViewportSize({ width: 390, height: 844 }))
      expect(yield* isWiderThanScreen(page)).toBe(false)

      yield* wait(() => postgres.stop("SIGQUIT"))
      yield* sees(page.locator("#trouble-rows").getByText("The store cannot be reached").waitFor())
      yield* wait(() => postgres.start())
      yield* sees(page.getByText("live", { exact: true }).waitFor())
      yield* sees(page.getByText("The store cannot be reached").first().waitFor({ state: "detached" }))
    })
  )
})
