/**
 * The log of changes: what each command sent, who ran it, and what became of it.
 */
import { globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lost, nodeRecord, ok } from "@berthkit/core/testing"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { json, settings } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

interface Change {
  readonly action: string
  readonly node: number | null
  readonly name: string | null
  readonly asked: string
  readonly outcome: string
  readonly why: string | null
  readonly command: string
  readonly fleet: string | null
  readonly lease: string | null
  readonly host: string
  readonly job: string | null
}

const historyOf = (env: Record<string, string>, ...args: ReadonlyArray<string>) =>
  Effect.map(invoke(["history", ...args, "-o", "json"], { env }), (ended) => {
    assert.strictEqual(ended.code, 0, ended.stderr)
    return json<ReadonlyArray<Change>>(ended)
  })

describe("berth history", () => {
  it.live("shows what it can read, and fails with the place of each change that it cannot", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const env = { ...(yield* settings), XDG_STATE_HOME: state }
      for (const name of ["one", "two", "three"]) {
        const created = yield* hurried(invoke(["node", "create", name, ...order], { env }))
        assert.strictEqual(created.code, 0, created.stderr)
      }
      const [first, second] = globSync(join(state, "**/records/change/*.json")).toSorted()
      writeFileSync(first!, "{")
      writeFileSync(second!, JSON.stringify({ version: 2 }))
      const { code, stderr, stdout } = yield* invoke(["history", "-o", "json"], { env })
      assert.deepStrictEqual(
        (JSON.parse(stdout) as ReadonlyArray<Change>).map(({ name }) => name),
        ["three"]
      )
      assert.strictEqual(code, 10, stderr)
      for (const path of [first!, second!]) assert.include(stderr, `${path} is damaged, or of a later version`)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "0 millis" }))))
  )

  it.live("lists each change with its command, node and outcome, newest first", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const berth = (...args: ReadonlyArray<string>) => hurried(invoke(args, { env }))
      assert.deepStrictEqual(yield* historyOf(env), [])
      const { id } = json<{ readonly id: number }>(yield* berth("node", "create", "web", ...order, "-o", "json"))
      yield* berth("commitment", "set", String(id), "auto_terminate", "--yes")
      yield* berth("node", "delete", "web", "--yes")
      yield* berth("api", "DELETE", "/nodes/999999/")
      yield* berth("node", "list")
      yield* invoke(["run", "--name", "job", ...order, "--", "true"], {
        env: { ...env, GITHUB_REPOSITORY: "shop/web", GITHUB_RUN_ID: "42" }
      })
      const all = yield* historyOf(env)
      assert.deepStrictEqual(
        all.map(({ action, command, name, outcome }) => [command, action, name, outcome]),
        [
          ["run", "delete", null, "deleted"],
          ["run", "create", "job", "created"],
          ["api", "delete", null, "failed"],
          ["node delete", "delete", null, "deleted"],
          ["commitment set", "commitment", null, "set"],
          ["node create", "create", "web", "created"]
        ]
      )
      const [ended, ran, failed] = all
      assert.match(ended!.lease ?? "", /^run-/)
      assert.deepInclude(ran, { asked: "C-2VCPU-8RAM-50DISK from Ubuntu-22.04", job: "shop/web 42", why: null })
      assert.deepInclude(failed, { node: 999_999, asked: "DELETE /nodes/999999/", job: null })
      assert.isString(failed!.why)
      for (const given of [String(id), "web"]) {
        assert.deepStrictEqual(
          (yield* historyOf(env, given)).map(({ node }) => node),
          [id, id, id]
        )
      }
      assert.lengthOf(yield* historyOf(env, "--limit", "2"), 2)
      const byCause = (cause: string) =>
        Effect.map(historyOf(env, "--cause", cause), (found) => found.map(({ action, command }) => [command, action]))
      assert.deepStrictEqual(yield* byCause("lease"), [["run", "delete"]])
      assert.deepStrictEqual(yield* byCause("commitment"), [["commitment set", "commitment"]])
      assert.deepStrictEqual(yield* byCause("fleet"), [])
      assert.deepStrictEqual(yield* byCause("requested"), [
        ["run", "create"],
        ["api", "delete"],
        ["node delete", "delete"],
        ["node create", "create"]
      ])
      assert.lengthOf(yield* historyOf(env, "web", "--cause", "requested"), 2)
      const table = yield* invoke(["history", "web"], { env: { ...env, NO_COLOR: "1" }, terminalColumns: 200 })
      assert.match(
        table.stdout,
        /^WHEN \(UTC\) +ACTION +NODE +NAME +ASKED +RESULT +COMMAND +FLEET +LEASE +USER +HOST +JOB +WHY\n/
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "0 millis" }))))
  )

  it.live("names the fleet that a change was made for", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      const env = { ...(yield* settings), XDG_STATE_HOME: state }
      const file = join(state, "berth.yml")
      writeFileSync(file, "fleet: shop\nnodes:\n  web: { count: 1, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-22.04 }\n")
      for (const verb of ["apply", "destroy"]) {
        const { code, stderr } = yield* hurried(invoke([verb, "-f", file, "--yes"], { env }))
        assert.strictEqual(code, 0, stderr)
      }
      assert.deepStrictEqual(
        (yield* historyOf(env)).map(({ action, fleet, lease, outcome }) => [action, outcome, fleet, lease]),
        [
          ["delete", "deleted", "shop", null],
          ["create", "created", "shop", null]
        ]
      )
      for (const cause of ["fleet", "requested"]) assert.lengthOf(yield* historyOf(env, "--cause", cause), 2)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "0 millis" }))))
  )

  it.live("records a change without a reply as unknown, before it is sent", () =>
    Effect.gen(function* () {
      const state = yield* stateFolder
      let notedBefore = 0
      const url = yield* serve(({ method, path }) => {
        if (method !== "POST") return ok(path === "/nodes/7/" ? nodeRecord({ id: 7, name: "web" }) : [])
        notedBefore = globSync(join(state, "**/records/change/*.json")).length
        return lost
      })
      const env = {
        BERTH_API_KEY: "key",
        BERTH_ACCESS_TOKEN: "token",
        BERTH_BASE_URL: url,
        XDG_STATE_HOME: state
      }
      const set = yield* invoke(["commitment", "set", "7", "auto_terminate", "--yes", "--deadline", "5s"], { env })
      assert.strictEqual(set.code, 8, set.stderr)
      assert.strictEqual(notedBefore, 1)
      const [change, ...others] = yield* historyOf(env, "7")
      assert.isEmpty(others)
      assert.deepInclude(change, { action: "commitment", node: 7, outcome: "unknown", command: "commitment set" })
      assert.isString(change!.why)
    }).pipe(Effect.scoped)
  )
})
