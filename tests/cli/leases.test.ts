/**
 * Tests which nodes `berth reap` and the end of `berth run` delete and which they leave alone, in this process against the mock service.
 * Tests that need processes and terminals are in `machine/run.machine.ts`.
 */
import { existsSync, globSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { nodeRecord } from "@berthkit/core/testing"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { inDialect } from "../account.ts"
import * as altered from "./AlteredService.ts"
import { type Altered, alteredService } from "./AlteredService.ts"
import { json, settings } from "./berth.ts"
import { accelerated, hurried, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const [plan, image] = ["C-2VCPU-8RAM-50DISK", "Ubuntu-22.04"]
const order = ["--plan", plan, "--image", image]

const service = (options: TestServerOptions = {}) =>
  TestServer.layer(
    inDialect({ clock: "real", provisioning: "0 millis", termination: "1 hour", uniqueNames: false, ...options })
  )

type Env = Record<string, string>

const makeEnv = Effect.gen(function* () {
  return { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder } as Env & { readonly XDG_STATE_HOME: string }
})

const berth = (args: ReadonlyArray<string>, env: Env) => hurried(invoke(args, { env }))

/** Creates a node like another client, so that this user's state does not know the node. */
const foreign = Effect.fnUntraced(function* (name: string) {
  const { code, stderr, stdout } = yield* berth(
    ["node", "create", name, ...order, "-o", "json"],
    yield* Effect.scoped(makeEnv)
  )
  assert.strictEqual(code, 0, stderr)
  return json<{ readonly id: number }>({ code, stderr, stdout }).id
})

const statuses = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.map(Effect.orDie(control.nodes.list({ params: { world: id }, query: {} })), (found) =>
    Object.fromEntries(found.map((node) => [node.id, node.status]))
  )
)

const deletes = Effect.flatMap(TestServer, ({ journal }) =>
  Effect.map(journal, (requests) => requests.filter(({ method }) => method === "DELETE").length)
)

/** The folder of the account. The first create makes this folder. */
const accountIn = ({ XDG_STATE_HOME }: { readonly XDG_STATE_HOME: string }) => {
  const accounts = join(XDG_STATE_HOME, "berth", "accounts")
  const [account] = readdirSync(accounts).filter((name) => existsSync(join(accounts, name, "creates")))
  return join(accounts, account!)
}

const leasesIn = (env: { readonly XDG_STATE_HOME: string }) => {
  try {
    return readdirSync(join(accountIn(env), "records/lease"))
  } catch {
    return []
  }
}

interface Left {
  readonly sentAgoMillis: number
  readonly nodeId?: number
  /** Whether berth drew the name of the node. Default: false. */
  readonly isNameDrawn?: boolean
  /** The node that the reply named, under another name. */
  readonly told?: number
  /** Whether the service stated the time before the create. Default: true. */
  readonly isDated?: boolean
  /**
   * How long ago the lease was taken, by this machine's clock. Default: longer than the run may take plus the possible difference of wall
   * clocks.
   */
  readonly takenAgoMillis?: number
}

/** How long a run of another machine may take. */
const ttlMillis = 60_000

/** When the service created a node; null if it does not say so, or no longer has the node. */
const createdMillisOf = Effect.fnUntraced(function* (id: number, env: { readonly XDG_STATE_HOME: string }) {
  const found = yield* berth(["node", "get", String(id), "-o", "json"], env)
  if (found.code !== 0) return null
  const { createdAt } = json<{ readonly createdAt: string | null }>(found)
  return createdAt === null ? null : Date.parse(createdAt)
})

/** Leaves the lease of a run that was killed on another machine with the same home folder. Only the run's `--ttl` ends such a lease. */
const leaveLease = (
  env: { readonly XDG_STATE_HOME: string },
  name: string,
  {
    isDated = true,
    isNameDrawn = false,
    nodeId,
    sentAgoMillis,
    told,
    takenAgoMillis = sentAgoMillis + ttlMillis + 15 * 60_000
  }: Left,
  flags: ReadonlyArray<string> = order
) =>
  Effect.gen(function* () {
    // This create makes the folders.
    yield* berth(["node", "create", "first", ...flags, "--idempotency-key", "first"], env)
    const createdMillis = nodeId === undefined ? null : yield* createdMillisOf(nodeId, env)
    const now = yield* Clock.currentTimeMillis
    const agoAt = (millis: number) => ({ wallMillis: now - millis, bootMillis: 0, bootClock: null })
    const [sentAt, takenAt] = [agoAt(sentAgoMillis), agoAt(takenAgoMillis)]
    const owner = { machine: "elsewhere", namespace: "n", pid: 7, startTime: "9" }
    const key = "run-left"
    const account = accountIn(env)
    const asked = { key, name, plan: flags[1], image: flags[3] }
    const intent = {
      version: 1,
      ...asked,
      spec: null,
      newerThan: 0,
      sentAt: { ...sentAt, serviceMillis: isDated ? sentAt.wallMillis : 0 },
      fate: "lost",
      nodeId: null,
      ...(told !== undefined && { told: { id: told, difference: "the name db instead of ci" } }),
      owner
    }
    writeFileSync(join(account, "creates", "open", `${key}.json`), JSON.stringify(intent), { mode: 0o600 })
    mkdirSync(join(account, "records/lease"), { mode: 0o700, recursive: true })
    const lease = {
      version: 1,
      ...asked,
      isNameDrawn,
      order: "digest",
      owner,
      begunAt: takenAt,
      takenAt,
      ttlMillis,
      keptSince: null,
      node: nodeId === undefined ? null : { id: nodeId, name, createdMillis }
    }
    writeFileSync(join(account, "records/lease", `${key}.json`), JSON.stringify(lease), { mode: 0o600 })
  })

describe("a lease whose create was never answered", () => {
  it.live("deletes no node of that name that somebody else created too late to be the result of the create", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 700_000 })
      const id = yield* foreign("ci-job")
      for (let round = 0; round < 2; round++) {
        yield* berth(["reap"], env)
        yield* berth(["run", ...order, "--name", "ci-job", "--dry-run", "--", "true"], env)
      }
      assert.strictEqual((yield* statuses)[id], "running")
      assert.strictEqual(yield* deletes, 0)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("ends with nothing deleted once it is certain that nothing was created", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 700_000 })
      const reaped = yield* berth(["reap", "-o", "json"], env)
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      assert.deepInclude(json<ReadonlyArray<object>>(reaped)[0], { id: null, name: "ci-job", outcome: "nothing" })
      assert.deepStrictEqual([leasesIn(env), yield* deletes], [[], 0])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("deletes the only node of the name, plan and image that was created in that time", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000 })
      const id = yield* foreign("ci-job")
      const reaped = yield* berth(["reap", "-o", "json"], env)
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      assert.deepInclude(json<ReadonlyArray<object>>(reaped)[0], { id, outcome: "deleted" })
      assert.deepStrictEqual([leasesIn(env), (yield* statuses)[id]], [[], "terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("names both candidates if there are two, and deletes neither, even when one of them has gone", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000 })
      const ids = [yield* foreign("ci-job"), yield* foreign("ci-job")] as const
      const reaped = yield* berth(["reap"], env)
      assert.strictEqual(reaped.code, 9, reaped.stderr)
      assert.match(reaped.stdout, new RegExp(`ci-job +failed .*${ids[0]}, ${ids[1]}`))
      const asJson = yield* berth(["reap", "-o", "json"], env)
      const { error } = JSON.parse(asJson.stderr.split("\n")[0]!)
      assert.match(error.hint, new RegExp(`berth node get ${ids[0]} ${ids[1]}; .+ Then remove .+run-left.json`))
      yield* berth(["node", "delete", String(ids[0]), "--yes"], env)
      const again = yield* berth(["reap"], env)
      assert.strictEqual(again.code, 9, again.stderr)
      assert.deepStrictEqual([leasesIn(env), (yield* statuses)[ids[1]]], [["run-left.json"], "running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a lease whose create was never answered, on a service that states no time and no dates", () => {
  const flags = ["--plan", altered.plan, "--image", altered.image]
  const undated = Effect.gen(function* () {
    const { account, service } = yield* alteredService
    service.isDated = false
    const env = { ...account, XDG_STATE_HOME: yield* stateFolder } as Env & { readonly XDG_STATE_HOME: string }
    const shown = { plan: altered.plan, image: altered.image, created_at: undefined }
    return {
      env,
      service,
      add: (id: number, name: string) => void service.nodes.push({ ...nodeRecord({ id, name }), ...shown }),
      ids: () => service.nodes.map(({ id }) => id)
    }
  })
  const minute = 60_000

  it.live("deletes the node with the random name of the run, however long ago the create was sent", () =>
    Effect.gen(function* () {
      const { add, env, ids } = yield* undated
      yield* leaveLease(env, "run-9m36ys0y", { sentAgoMillis: 90 * minute, isDated: false, isNameDrawn: true }, flags)
      add(1007, "run-9m36ys0y")
      const reaped = yield* accelerated(invoke(["reap", "-o", "json"], { env }))
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      assert.deepInclude(json<ReadonlyArray<object>>(reaped)[0], { id: 1007, outcome: "deleted" })
      assert.deepStrictEqual([ids(), leasesIn(env)], [[1000], []])
    }).pipe(Effect.scoped)
  )

  for (const [what, isNameDrawn, names] of [
    ["with the name that the user gave the run", false, ["ci"]],
    ["with the random name of the run, if there are two", true, ["run-9m36ys0y", "run-9m36ys0y"]]
  ] as const) {
    it.live(`deletes no node ${what}, and says how to end the lease by hand`, () =>
      Effect.gen(function* () {
        const { add, env, ids } = yield* undated
        yield* leaveLease(env, names[0], { sentAgoMillis: 90 * minute, isDated: false, isNameDrawn }, flags)
        const found = names.map((name, at) => (add(1007 + at, name), 1007 + at))
        const reaped = yield* accelerated(invoke(["reap"], { env }))
        assert.strictEqual(reaped.code, 9, reaped.stderr)
        assert.deepStrictEqual([ids(), leasesIn(env)], [[1000, ...found], ["run-left.json"]])
        const [, file] = /^hint: .+ Then remove (.+)\.$/m.exec(reaped.stderr) ?? []
        assert.include(reaped.stderr, `: berth node get ${found.join(" ")}; `)
        if (found.length === 1) assert.include(reaped.stderr, "; if it is: berth node delete 1007. Then remove ")
        yield* berth(["node", "delete", "1007", "--yes"], env)
        rmSync(file!)
        const again = yield* berth(["reap"], env)
        assert.deepStrictEqual([again.code, ids()], [0, [1000, ...found.slice(1)]], again.stderr)
      }).pipe(Effect.scoped)
    )
  }

  it.live("ends once the node that the reply named under another name is gone", () =>
    Effect.gen(function* () {
      const { add, env, ids, service } = yield* undated
      yield* leaveLease(env, "ci", { sentAgoMillis: 28 * minute, isDated: false, told: 1007 }, flags)
      add(1007, "db")
      const reaped = yield* accelerated(invoke(["reap"], { env }))
      assert.deepStrictEqual([reaped.code, ids()], [9, [1000, 1007]], reaped.stderr)
      assert.include(
        reaped.stderr,
        "hint: See whether it is yours: berth node get 1007; if it is: berth node delete 1007."
      )
      service.nodes.pop()
      const again = yield* accelerated(invoke(["reap"], { env }))
      assert.deepStrictEqual([again.code, leasesIn(env)], [0, []], again.stderr)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["true if berth drew it", [], true],
    ["false if the user gave it", ["--name", "ci"], false]
  ] as const)("says whether the name is the run's alone: %s", ([, named, isNameDrawn]) =>
    Effect.gen(function* () {
      const { env, service } = yield* undated
      let lease: { readonly isNameDrawn?: boolean } = {}
      service.onMade = () => {
        const [file] = globSync(join(env.XDG_STATE_HOME, "berth/accounts/*/records/lease/*.json"))
        lease = JSON.parse(readFileSync(file!, "utf8"))
      }
      const { code, stderr } = yield* berth(["run", ...flags, ...named, "--yes", "--", "true"], env)
      assert.deepStrictEqual([code, lease.isNameDrawn], [0, isNameDrawn], stderr)
    }).pipe(Effect.scoped)
  )

  it.live("ends with nothing deleted 26 minutes after the create, if no node is listed, and not before", () =>
    Effect.gen(function* () {
      const { env, ids } = yield* undated
      yield* leaveLease(env, "ci", { sentAgoMillis: 20 * minute, isDated: false }, flags)
      const early = yield* accelerated(invoke(["reap"], { env }))
      assert.strictEqual(early.code, 9, early.stderr)
      assert.include(early.stderr, "hint: Run berth reap in 26 minutes: ")
      yield* leaveLease(env, "ci", { sentAgoMillis: 28 * minute, isDated: false }, flags)
      const late = yield* accelerated(invoke(["reap", "-o", "json"], { env }))
      assert.strictEqual(late.code, 0, late.stderr)
      assert.deepInclude(json<ReadonlyArray<object>>(late)[0], { id: null, outcome: "nothing" })
      assert.deepStrictEqual([ids(), leasesIn(env)], [[1000], []])
    }).pipe(Effect.scoped)
  )
})

describe("a lease whose node somebody has deleted", () => {
  it.live("ends, even if the list may lack nodes: the node's own 404 is enough", () =>
    Effect.gen(function* () {
      const env = { ...(yield* makeEnv), BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" }
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 700_000, nodeId: 99_999_999 })
      const reaped = yield* berth(["reap", "-o", "json"], env)
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      assert.deepInclude(json<ReadonlyArray<object>>(reaped)[0], { name: "ci-job", outcome: "gone" })
      assert.deepStrictEqual([leasesIn(env), yield* deletes], [[], 0])
    }).pipe(Effect.scoped, Effect.provide(service({ dialect: "today", catalogue: "documented", paging: "cut" })))
  )
})

describe("a run on a machine whose clock is 15 minutes behind", () => {
  for (const [what, args] of [
    ["a reap", ["reap"]],
    ["the next run", ["run", ...order, "--name", "next", "--", "true"]]
  ] as const) {
    it.live(`keeps its node and its lease until its --ttl is over: ${what}`, () =>
      Effect.gen(function* () {
        const env = yield* makeEnv
        const id = yield* foreign("ci-job")
        const left = { sentAgoMillis: 0, nodeId: id, takenAgoMillis: 15 * 60_000 + ttlMillis / 2 }
        yield* leaveLease(env, "ci-job", left)
        const { code, stderr } = yield* berth(args, env)
        assert.strictEqual(code, 0, stderr)
        assert.deepStrictEqual([leasesIn(env), (yield* statuses)[id]], [["run-left.json"], "running"])
      }).pipe(Effect.scoped, Effect.provide(service()))
    )
  }
})

describe("what a run refuses", () => {
  it.live.each([
    ["--plan", "NOPE"],
    ["--max-cost", "0.01"]
  ])("is refused before anything that earlier runs left is deleted: %s %s", ([flag, value]) =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const id = yield* foreign("ci-job")
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: id })
      const { code, stderr } = yield* berth(["run", ...order, flag!, value!, "--", "true"], env)
      assert.strictEqual(code, 2, stderr)
      assert.deepStrictEqual([yield* deletes, (yield* statuses)[id]], [0, "running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("is refused before anything is deleted where it has to ask and cannot", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const id = yield* foreign("ci-job")
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: id })
      const unpriced = ["--plan", plan, "--image", "77", "--force"]
      const { code, stderr } = yield* berth(["run", ...unpriced, "--", "true"], env)
      assert.strictEqual(code, 2, stderr)
      assert.match(stderr, /Cannot ask whether to create/)
      assert.deepStrictEqual([yield* deletes, (yield* statuses)[id]], [0, "running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a leased node that is a member of a fleet", () => {
  /** A node that a person has given to a fleet as a protected member. */
  const adopted = Effect.fnUntraced(function* (env: Env) {
    const id = yield* foreign("ci-job")
    const folder = yield* stateFolder
    const file = join(folder, "fleet.yaml")
    writeFileSync(file, `fleet: shop\nnodes:\n  db: { plan: ${plan}, image: ${image}, protect: true }\n`)
    const { code, stderr } = yield* berth(["fleet", "adopt", String(id), "--as", "db-1", "-f", file], env)
    assert.strictEqual(code, 0, stderr)
    return { folder, id }
  })

  it.live("stays with its lease if the ledger cannot be read", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const { folder, id } = yield* adopted(env)
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: id })
      writeFileSync(join(folder, "fleet.ledger.json"), "<<<<<<< HEAD")
      const reaped = yield* berth(["reap"], env)
      assert.notStrictEqual(reaped.code, 0)
      assert.include(
        reaped.stdout,
        `Protected: node ${id} (ci-job), which is db-1 of the fleet shop. This machine has a record of the protection, but the ledger ` +
          `${join(folder, "fleet.ledger.json")} is damaged. Node ${id} (ci-job) was not deleted, and is billed.`
      )
      assert.deepStrictEqual([leasesIn(env), yield* deletes, (yield* statuses)[id]], [["run-left.json"], 0, "running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("is left alone by a reap while the list of fleets cannot be read, and its lease stays", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const { id } = yield* adopted(env)
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: id })
      const [record] = globSync(join(env.XDG_STATE_HOME, "berth/accounts/*/records/fleet/*.json"))
      writeFileSync(record!, "")
      const { code, stdout } = yield* berth(["reap"], env)
      assert.notStrictEqual(code, 0)
      assert.include(stdout, `${record} is damaged, or of a later version. A fleet in it may have the node.`)
      assert.include(stdout, `Node ${id} (ci-job) was not deleted, and is billed.`)
      assert.deepStrictEqual([yield* deletes, leasesIn(env)], [0, ["run-left.json"]])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("is the fleet's: a reap leaves it, says whose it is, and ends the lease", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const { id } = yield* adopted(env)
      // `fleet adopt` refuses a leased node, so a node can be both leased and in a fleet only through the ledger of another machine.
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: id })
      const dry = yield* berth(["reap", "--dry-run", "-o", "json"], env)
      assert.deepStrictEqual(json(dry), [])
      const reaped = yield* berth(["reap"], env)
      assert.strictEqual(reaped.code, 0, reaped.stderr)
      assert.include(reaped.stderr, `Node ${id} (ci-job) is db-1 of the fleet shop now: it stays, and is billed.`)
      assert.match(reaped.stdout, /ci-job +in-fleet/)
      assert.deepStrictEqual([leasesIn(env), yield* deletes, (yield* statuses)[id]], [[], 0, "running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a run whose state folder vanishes while its command runs", () => {
  const vanishing = (env: { readonly XDG_STATE_HOME: string }, ...flags: ReadonlyArray<string>) =>
    berth(
      [
        "run",
        ...order,
        "--name",
        "job",
        ...flags,
        "--",
        "mv",
        join(env.XDG_STATE_HOME, "berth"),
        join(env.XDG_STATE_HOME, "gone")
      ],
      env
    )

  it.live.each(["--yes", "--reuse"])("deletes its node all the same: with %s", (flag) =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const { code, stderr } = yield* vanishing(env, flag)
      assert.strictEqual(code, 0, stderr)
      assert.match(stderr, /Deleted node \d+ \(job\)\./)
      assert.deepStrictEqual(Object.values(yield* statuses), ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("names the node, its cost and the command that deletes it, if the delete fails", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* arm([{ fault: "status", status: 403, scope: { operation: "nodes.delete" } }])
      const env = yield* makeEnv
      const { code, stderr } = yield* vanishing(env)
      const [id] = Object.keys(yield* statuses)
      assert.strictEqual(code, 3, stderr)
      assert.match(
        stderr,
        new RegExp(
          `error: Node job \\(${id}\\) was not deleted, and is billed: .+ Leaving it costs ₹\\d+\\.\\d\\d per hour\\.\nhint: Delete the node: berth node delete ${id}; .+berth reap\n$`
        )
      )
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("run --reuse", () => {
  it.live("says what the kept node costs, and whether that is the minimum charge", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const reuse = ["run", ...order, "--name", "job", "--reuse", "--", "true"]
      const { code, stderr } = yield* berth(reuse, env)
      assert.strictEqual(code, 0, stderr)
      const [, minimum] = /minimum charge ₹(\d+\.\d\d)/.exec(stderr) ?? []
      const charged = minimum === undefined ? String.raw`₹[\d.]+` : `₹${minimum}, the minimum charge`
      assert.match(stderr, new RegExp(`Kept node .+; its hour ends in .+\\. Charged so far: ${charged}\\.\n`))
      const again = yield* berth(reuse, env)
      assert.match(again.stderr, new RegExp(`Took node .+ left\\. Charged so far: ${charged}\\.\n`))
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a kept node", () => {
  const reuse = ["run", ...order, "--name", "job", "--reuse", "--", "true"]

  /** Keeps a node, and returns its id. */
  const keep = Effect.fnUntraced(function* (env: Env) {
    const { code, stderr } = yield* berth(reuse, env)
    assert.strictEqual(code, 0, stderr)
    const [, id] = /Kept node (\d+)/.exec(stderr) ?? []
    return Number(id)
  })

  it.live("whose delete may still be carried out is not taken by the next run, which deletes it", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const env = yield* makeEnv
      const id = yield* keep(env)
      yield* arm([{ fault: "status", status: 503, scope: { operation: "nodes.delete" } }])
      const reaped = yield* berth(["reap", "--within", "1h"], env)
      assert.notStrictEqual(reaped.code, 0)
      assert.strictEqual((yield* statuses)[id], "running")
      yield* arm([])
      const next = yield* berth(reuse, env)
      assert.strictEqual(next.code, 0, next.stderr)
      assert.include(next.stderr, `Deleted node ${id} (job), which an earlier run left behind.`)
      assert.notInclude(next.stderr, "Took node")
      assert.strictEqual((yield* statuses)[id], "terminate")
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("is deleted if the run that took it is interrupted while it deletes what earlier runs left", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const env = yield* makeEnv
      const id = yield* keep(env)
      yield* leaveLease(env, "left", { sentAgoMillis: 60_000, nodeId: yield* foreign("left") })
      yield* arm([{ fault: "latency", delay: "1 hour", times: 1, scope: { operation: "nodes.delete" } }])
      const run = yield* Effect.forkChild(berth(reuse, env))
      while ((yield* deletes) === 0) yield* Effect.sleep(20)
      yield* Fiber.interrupt(run)
      assert.deepStrictEqual([leasesIn(env), (yield* statuses)[id]], [["run-left.json"], "terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a run without notes", () => {
  const changes = (stderr: string) => stderr.trimEnd().split("\n")

  it.live("still names the node that it made, and what became of it", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const job = ["run", ...order, "--name", "job", "--quiet"]
      const once = yield* berth([...job, "--", "true"], env)
      const [, id] = /node (\d+)/.exec(once.stderr) ?? []
      assert.deepStrictEqual(changes(once.stderr), [`Created node ${id} (job).`, `Deleted node ${id} (job).`])
      const kept = yield* berth([...job, "--reuse", "--", "true"], env)
      assert.match(kept.stderr, /^Created node \d+ \(job\)\.\nKept node \d+ \(job\) for the next run --reuse; .+\n$/)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("names it as JSON if errors are JSON", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const { stderr } = yield* berth(["run", ...order, "--name", "job", "-o", "json", "--", "true"], env)
      const made = changes(stderr).map((line) => JSON.parse(line).change.details)
      const id = made[0].created.id
      assert.isNumber(id)
      assert.deepStrictEqual(made, [{ created: { id, name: "job" } }, { deleted: { id, name: "job" } }])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("names what it deleted of an earlier run", () =>
    Effect.gen(function* () {
      const env = yield* makeEnv
      const id = yield* foreign("left")
      yield* leaveLease(env, "left", { sentAgoMillis: 60_000, nodeId: id })
      const { stderr } = yield* berth(["run", ...order, "--name", "job", "--quiet", "--", "true"], env)
      assert.include(stderr, `Deleted node ${id} (left), which an earlier run left behind.`)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a reap that takes long", () => {
  it.live("says on a pipe after 2 s and again later what it waits for, and nothing with --quiet", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const env = yield* makeEnv
      const slow = [{ fault: "latency", delay: "2500 millis", times: 1, scope: { operation: "nodes.get" } }] as const
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: yield* foreign("ci-job") })
      yield* arm(slow)
      const lines = /^ci-job \(\d+\): deleting; waiting for deleted \((?:[2-9]|1\d) s\)$/gm
      const { stderr } = yield* accelerated(invoke(["reap"], { env }))
      assert.isAtLeast(stderr.match(lines)?.length ?? 0, 2, stderr)
      yield* leaveLease(env, "ci-job", { sentAgoMillis: 60_000, nodeId: yield* foreign("ci-job") })
      yield* arm(slow)
      assert.strictEqual((yield* invoke(["reap", "--quiet"], { env })).stderr, "")
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

describe("a run whose create has an unknown outcome", () => {
  const alter: Readonly<Record<string, (service: Altered) => void>> = {
    "got no reply": (service) => (service.areCreatesSwallowed = true),
    "made a node of another name": (service) => (service.spell = () => "another")
  }
  for (const [what, change] of Object.entries(alter)) {
    it.live(`says that once, and names nothing that berth run lacks: ${what}`, () =>
      Effect.gen(function* () {
        const { account, service } = yield* alteredService
        change(service)
        const env = { ...account, XDG_STATE_HOME: yield* stateFolder }
        const ci = ["run", "--name", "ci", "--plan", altered.plan, "--image", altered.image, "--yes", "--", "true"]
        const failed = yield* accelerated(invoke(ci, { env }))
        assert.strictEqual(failed.code, 8, failed.stderr)
        assert.lengthOf(failed.stderr.match(/^error: /gm) ?? [], 1, failed.stderr)
        assert.notMatch(failed.stderr, /key|create it again|its deadline/i)
        if (service.areCreatesSwallowed) assert.include(failed.stderr, "the search for its node ended after 20 s")
        assert.match(failed.stderr, /hint: .*berth (?:reap|node get 1000)/)
      }).pipe(Effect.scoped)
    )
  }
})
