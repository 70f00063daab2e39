/** The GitHub Action as a runner runs it: the main step, and then always the post step. With the real `berth`, against the mock. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { parse } from "yaml"
import { inDialect, placeOptions } from "../../account.ts"
import { settings } from "../berth.ts"

const action = fileURLToPath(new URL("../../../integrations/github-action", import.meta.url))
const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

const { inputs, runs } = parse(readFileSync(join(action, "action.yml"), "utf8")) as {
  readonly inputs: Record<string, { readonly default?: string }>
  readonly runs: Record<"using" | "main" | "post" | "post-if", string>
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1vbmV5IGlzIG5vdCBhIHB1YmxpYyBrZXkuLi4u runner@home"

const given = { plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04", name: "runner" }

/** A runner: the files through which the steps of a job talk to the runner, and the variables that it sets for a step. */
const makeRunner = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-runner-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const [state, output, temporary, berth] = ["state", "output", "temp", "berth"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string
  ]
  writeFileSync(state, "")
  writeFileSync(output, "")
  mkdirSync(temporary)
  writeFileSync(berth, `#!/bin/sh\nexec '${process.execPath}' '${binary}' "$@"\n`)
  chmodSync(berth, 0o755)
  const { BERTH_ACCESS_TOKEN, BERTH_API_KEY, BERTH_BASE_URL } = yield* settings
  const place = Object.fromEntries(Object.entries(placeOptions).map(([name, value]) => [name, String(value)]))
  const pairs = (path: string) =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => line.split("="))
  const start = (step: "main" | "post", more: Readonly<Record<string, string>> = {}) => {
    const defaults = Object.entries(inputs).map(([name, { default: value = "" }]) => [name, value])
    const all = { ...Object.fromEntries(defaults), ...given, ...place, berth, "api-key": BERTH_API_KEY, ...more }
    return Program.start(() =>
      Program.ofNode(join(action, runs[step]), [], {
        env: {
          HOME: folder,
          RUNNER_TEMP: temporary,
          GITHUB_STATE: state,
          GITHUB_OUTPUT: output,
          BERTH_BASE_URL,
          BERTH_ACCESS_TOKEN,
          ...Object.fromEntries(Object.entries(all).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
          ...Object.fromEntries(pairs(state).map(([name, value]) => [`STATE_${name}`, value]))
        }
      })
    )
  }
  const run = (step: "main" | "post", more?: Readonly<Record<string, string>>) =>
    Effect.scoped(Effect.flatMap(start(step, more), (program) => Effect.promise(() => program.ended)))
  return { start, run, outputs: () => Object.fromEntries(pairs(output)), temporary, folder }
})

const nodes = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.orDie(control.nodes.list({ params: { world: id }, query: {} }))
)
const statuses = Effect.map(nodes, (found) => found.map(({ status }) => status))
const untilMade = Effect.repeat(nodes, {
  until: ({ length }) => length > 0,
  schedule: Schedule.spaced("50 millis")
})

const service = (provisioning: "300 millis" | "1 hour" = "300 millis") =>
  TestServer.layer(inDialect({ clock: "real", provisioning, termination: "1 hour" }))

describe("the action", () => {
  it("has a post step that runs whatever happened", () => assert.strictEqual(runs["post-if"], "always()"))

  it.live("gives a job a node, and deletes it after the job", () =>
    Effect.gen(function* () {
      const { outputs, run, temporary } = yield* makeRunner
      const main = yield* run("main", { "ssh-key": `${publicKey}\n` })
      assert.strictEqual(main.code, 0, main.stdout)
      const { journal } = yield* TestServer
      const create = (yield* journal).find(({ method }) => method === "POST")
      assert.deepStrictEqual(JSON.parse(create!.body!).ssh_keys, [publicKey])
      assert.include(main.stdout, "::add-mask::berth-key")
      const [node] = yield* nodes
      assert.strictEqual(node!.status, "running")
      assert.strictEqual(outputs()["node-id"], String(node!.id))
      assert.match(outputs()["node-ip"]!, /^\d+\.\d+\.\d+\.\d+$/)
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.include(post.stdout, `Deleted node ${node!.id}`)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
      assert.deepStrictEqual(readdirSync(temporary), [])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("fails for an unknown plan, and its post step has nothing to do", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRunner
      const main = yield* run("main", { plan: "no-such-plan" })
      assert.strictEqual(main.code, 1)
      assert.include(main.stdout, "There is no plan no-such-plan")
      assert.include(main.stdout, "::error::There is no node for this job")
      const post = yield* run("post", { plan: "no-such-plan" })
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.deepStrictEqual(yield* statuses, [])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("deletes the node although its main step was killed while it waited", () =>
    Effect.gen(function* () {
      const { run, start } = yield* makeRunner
      const main = yield* start("main")
      yield* untilMade
      yield* Effect.promise(() => main.kill("SIGKILL"))
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service("1 hour")))
  )

  it.live("deletes the node although berth was killed during the job", () =>
    Effect.gen(function* () {
      const { folder, run, temporary } = yield* makeRunner
      assert.strictEqual((yield* run("main")).code, 0)
      const [job] = readdirSync(temporary)
      process.kill(Number(readFileSync(join(temporary, job!, "pid"), "utf8")), "SIGKILL")
      assert.isTrue(existsSync(join(folder, ".local/state/berth")))
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("deletes the node although a step emptied the folder for temporary files", () =>
    Effect.gen(function* () {
      const { run, temporary } = yield* makeRunner
      assert.strictEqual((yield* run("main")).code, 0)
      for (const job of readdirSync(temporary)) rmSync(join(temporary, job), { recursive: true })
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("fails in the post step where the node cannot be deleted", () =>
    Effect.gen(function* () {
      const { run } = yield* makeRunner
      assert.strictEqual((yield* run("main")).code, 0)
      yield* Effect.flatMap(TestServer, ({ arm }) =>
        arm([{ fault: "status", status: 403, scope: { operation: "nodes.delete" } }])
      )
      const post = yield* run("post")
      assert.strictEqual(post.code, 1)
      assert.include(post.stdout, "::error::The node of this job may still be there")
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("keeps the node for the next job where that is wanted", () =>
    Effect.gen(function* () {
      const { outputs, run } = yield* makeRunner
      const ids: Array<string | undefined> = []
      for (let job = 0; job < 2; job++) {
        assert.strictEqual((yield* run("main", { reuse: "true" })).code, 0)
        ids.push(outputs()["node-id"])
        assert.strictEqual((yield* run("post", { reuse: "true" })).code, 0)
      }
      assert.strictEqual(ids[0], ids[1])
      assert.deepStrictEqual(yield* statuses, ["running"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("succeeds if only the create of an earlier job on this runner is not settled, and says so", () =>
    Effect.gen(function* () {
      const { folder, run, start } = yield* makeRunner
      const { arm } = yield* TestServer
      // An earlier job: its create gets no reply, and the runner kills the job before the create is settled.
      yield* arm([{ fault: "hang", scope: { operation: "nodes.create" } }])
      const earlier = yield* start("main", { name: "other" })
      yield* Effect.repeat(
        Effect.sync(() => leaseIn(folder)),
        { until: (lease) => lease !== undefined, schedule: Schedule.spaced("50 millis") }
      )
      yield* Effect.flatMap(TestServer, ({ journal }) =>
        Effect.repeat(journal, {
          until: (requests) => requests.some(({ method }) => method === "POST"),
          schedule: Schedule.spaced("50 millis")
        })
      )
      process.kill(leaseIn(folder)!, "SIGKILL")
      yield* Effect.promise(() => earlier.ended)
      yield* arm([])
      writeFileSync(join(folder, "state"), "")
      assert.strictEqual((yield* run("main")).code, 0)
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.match(post.stdout, /^::warning::An earlier run on this runner left a lease/m)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("does not signal another process that has got the process id of its run", () =>
    Effect.gen(function* () {
      const { folder, run, temporary } = yield* makeRunner
      assert.strictEqual((yield* run("main")).code, 0)
      const [job] = readdirSync(temporary)
      const pid = join(temporary, job!, "pid")
      process.kill(Number(readFileSync(pid, "utf8")), "SIGKILL")
      const other = yield* Program.start(() => new Program("sleep", ["300"]))
      writeFileSync(pid, `${other.child.pid}\n`)
      rmSync(join(temporary, job!, "node.json"))
      const post = yield* run("post")
      assert.strictEqual(post.code, 0, post.stdout + post.stderr)
      assert.strictEqual(other.child.exitCode ?? other.child.signalCode, null)
      assert.deepStrictEqual(yield* statuses, ["terminate"])
      assert.isTrue(existsSync(folder))
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("passes on no text of another program that the runner would read as a command", () =>
    Effect.gen(function* () {
      const script = `import { show } from ${JSON.stringify(join(action, "common.mjs"))}
        show("::error::a\\r:::set-output::b\\n  ::add-mask::c\\nnode ###[command]d ##[group]e")`
      const shown = yield* Effect.scoped(
        Effect.flatMap(
          Program.start(() => Program.ofSource(script, { cwd: action })),
          (program) => Effect.promise(() => program.succeeded())
        )
      )
      assert.notMatch(shown, /^\s*::/m)
      assert.notInclude(shown, "##[")
      assert.include(shown, ": :error: :a\n: : :set-output: :b\n")
    })
  )
})

/** The process that holds a lease of this user; undefined if there is none. */
const leaseIn = (home: string): number | undefined => {
  const accounts = join(home, ".local/state/berth/accounts")
  if (!existsSync(accounts)) return undefined
  const [file] = readdirSync(accounts)
    .map((account) => join(accounts, account, "records/lease"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((name) => name.endsWith(".json"))
  return file === undefined ? undefined : JSON.parse(readFileSync(file, "utf8")).owner.pid
}
