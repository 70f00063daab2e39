/** Tests what a client writes into the log of changes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir, userInfo } from "node:os"
import { basename, join } from "node:path"
import { layer as client, lost, nodeRecord, ok, type Script } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { accountFiles, accountLayer } from "../../../src/client/AccountFiles.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import { recordsOf } from "../../../src/client/RecordFolder.ts"
import { readChanges, settingIn } from "../../../src/client/state/Change.ts"
import { ChangedBy, ChangedFor } from "../../../src/client/state/ChangedBy.ts"
import { changeKind } from "../../../src/client/state/noteChanges.ts"
import type { NodeId } from "../../../src/domain/Node.ts"

const options = {
  baseUrl: "https://service.example",
  credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
}

const id = 41 as NodeId
const spec = { name: "web", plan: "P", image: "I" }

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-notes-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Runs a program whose client keeps its state in berth's folder below this one. Its client has ended when the effect ends. */
const running = <A, E>(
  home: string,
  script: Script,
  program: Effect.Effect<A, E, Nodes | RawApi>,
  env: Record<string, string> = {}
) =>
  program.pipe(
    Effect.provide(Layer.provide(client(script), accountLayer(options))),
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { ...env, XDG_STATE_HOME: home, BERTH_ALLOWANCE_FILE: "off" } })
    )
  )

/** The changes in that folder, newest first. */
const changesIn = Effect.fnUntraced(function* (home: string) {
  const { intents } = yield* Effect.provideService(
    accountFiles(options),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env: { XDG_STATE_HOME: home } })
  )
  return readChanges(yield* recordsOf(intents!).list(changeKind))
})

const refused = { status: 404, body: `{"code":404,"errors":{"detail":["no"]}}` }

describe("a client notes", () => {
  it.live("a delete before it sends it, and the outcome afterwards", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const outcomes: Array<unknown> = []
      yield* running(
        home,
        () =>
          Effect.gen(function* () {
            outcomes.push(...(yield* Effect.orDie(changesIn(home))).map(({ node, outcome }) => [node, outcome]))
            return ok([])
          }),
        Nodes.use((nodes) => nodes.delete(id))
      )
      assert.deepStrictEqual(outcomes, [[id, "unknown"]])
      const [change, ...others] = yield* changesIn(home)
      assert.lengthOf(others, 0)
      assert.deepInclude(change, {
        action: "delete",
        node: id,
        name: null,
        asked: "",
        outcome: "deleted",
        why: null,
        command: basename(process.argv[1]!),
        fleet: null,
        lease: null,
        user: userInfo().username,
        host: hostname(),
        job: null
      })
    })
  )

  it.live("a create with its order and its node, for whom it is, and in which job", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const create = Nodes.use((nodes) => nodes.create(spec)).pipe(
        Effect.provideService(ChangedBy, "apply"),
        Effect.provideService(ChangedFor, { fleet: "shop", lease: null })
      )
      const env = { GITHUB_REPOSITORY: "shop/web", GITHUB_RUN_ID: "42" }
      const script: Script = ({ method }) => ok(method === "POST" ? nodeRecord({ id, name: "web", plan: "P" }) : [])
      yield* running(home, script, create, env)
      const [change] = yield* changesIn(home)
      assert.deepInclude(change, {
        action: "create",
        node: id,
        name: "web",
        asked: "P from I",
        outcome: "created",
        command: "apply",
        fleet: "shop",
        job: "shop/web 42"
      })
    })
  )

  it.live("what a create and a later request set for the end of the commitment", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const script: Script = ({ method }) => ok(method === "POST" ? nodeRecord({ id, name: "web", plan: "P" }) : [])
      const calls = Effect.gen(function* () {
        const nodes = yield* Nodes
        yield* nodes.create({ ...spec, commitmentSetting: "auto_terminate" })
        yield* nodes.setCommitment(id, "auto_renew", { skuId: 7 })
      })
      yield* running(home, script, calls, {})
      const changes = yield* changesIn(home)
      assert.deepEqual(
        changes.map((change) => [change.asked, settingIn(change)]),
        [
          ["auto_renew with the committed option 7", "auto_renew"],
          ["P from I with auto_terminate", "auto_terminate"]
        ]
      )
    })
  )

  it.live("what is set for the end of a commitment, and requests in the caller's form that do not only read", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const calls = Effect.gen(function* () {
        const [nodes, api] = yield* Effect.all([Nodes, RawApi])
        yield* nodes.setCommitment(id, "auto_renew", { skuId: 7 })
        yield* api.request({ method: "GET", path: "/nodes/" })
        yield* api.request({ method: "PUT", path: "/tags/" })
        yield* api.exchange({ method: "DELETE", path: `/nodes/${id}/` })
      })
      yield* running(home, () => ok([]), calls)
      assert.deepStrictEqual(
        (yield* changesIn(home)).map(({ action, asked, node, outcome }) => [action, node, asked, outcome]),
        [
          ["delete", id, `DELETE /nodes/${id}/`, "sent"],
          ["request", null, "PUT /tags/", "sent"],
          ["commitment", id, "auto_renew with the committed option 7", "set"]
        ]
      )
    })
  )

  it.live("why a change failed, and leaves the outcome unknown if the reply was lost or the program stopped", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const remove = Nodes.use((nodes) => nodes.delete(id, { maxAttempts: 1 }))
      yield* running(home, () => refused, Effect.flip(remove))
      yield* running(home, () => lost, Effect.flip(remove))
      const isSent = yield* Deferred.make<void>()
      yield* running(
        home,
        () => Effect.andThen(Deferred.succeed(isSent, undefined), Effect.never),
        Effect.gen(function* () {
          const fiber = yield* Effect.forkChild(remove)
          yield* Deferred.await(isSent)
          yield* Fiber.interrupt(fiber)
        })
      )
      const [stopped, unanswered, failed] = yield* changesIn(home)
      assert.deepInclude(stopped, { outcome: "unknown", why: null })
      assert.strictEqual(unanswered?.outcome, "unknown")
      assert.isString(unanswered?.why)
      assert.strictEqual(failed?.outcome, "failed")
      assert.isString(failed?.why)
    })
  )

  it.live("nothing if it refuses the arguments, because nothing is sent", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const calls = Effect.gen(function* () {
        const [nodes, api] = yield* Effect.all([Nodes, RawApi])
        yield* Effect.flip(nodes.delete(Number.NaN as NodeId))
        yield* Effect.flip(nodes.create({ ...spec, name: "" }))
        yield* Effect.flip(nodes.setCommitment(id, "never" as "auto_renew"))
        yield* Effect.flip(api.request({ method: "DELETE", path: "/../secret" }))
      })
      yield* running(home, () => assert.fail("sent"), calls)
      assert.deepStrictEqual(yield* changesIn(home), [])
    })
  )

  it.live("records nothing without a place, and continues if the place cannot be written", () =>
    Effect.gen(function* () {
      const home = yield* folder
      const remove = Nodes.use((nodes) => nodes.delete(id))
      yield* Effect.provide(
        remove,
        client(() => ok([]))
      )
      yield* Effect.provide(
        remove,
        Layer.provide(
          client(() => ok([])),
          accountLayer(options, "memory")
        )
      )
      assert.deepStrictEqual(yield* changesIn(home), [])
      writeFileSync(join(home, "berth"), "a file where the folder would be")
      yield* running(home, () => ok([]), remove)
    })
  )
})
