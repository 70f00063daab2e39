/** A process that a signal ends: each signal has its own exit code. Output that cannot be written has one, too. */
import { spawnSync } from "node:child_process"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { start } from "./berth.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const binary = fileURLToPath(new URL("../../apps/cli/bin/berth.mjs", import.meta.url))
const account = { BERTH_API_KEY: "the-key-of-a-test", BERTH_ACCESS_TOKEN: "the-token-of-a-test" }

const signals = [
  ["SIGINT", 130],
  ["SIGHUP", 129],
  ["SIGTERM", 143]
] as const

describe("a wait that is ended by", () => {
  it.live.each(signals)("%s exits with %i, with the command that goes on waiting", ([signal, code]) =>
    Effect.gen(function* () {
      const node = nodeRecord({ id: 7, name: "web", status: "created" })
      const url = yield* serve(({ path }) => ok(path === "/nodes/" ? [node] : node))
      const running = yield* start(["node", "wait", "7"], { env: { ...account, BERTH_BASE_URL: url } })
      yield* running.untilStderr("created")
      yield* running.kill(signal)
      const ended = yield* running.ended
      assert.deepStrictEqual([ended.code, ended.stdout], [code, ""])
      assert.include(ended.stderr, "berth node wait 7 --for running")
    }).pipe(Effect.scoped)
  )
})

const plan = "C-2VCPU-8RAM-50DISK"
const image = {
  name: "Ubuntu",
  plan,
  image: "Ubuntu-22.04",
  os: { name: "Ubuntu", version: "22.04", image: "Ubuntu-22.04" },
  zone: { slug_name: "ncr" },
  specs: {
    ram: "8.00",
    cpu: 2,
    disk_space: 50,
    price_per_month: "4715.8",
    price_per_hour: "6.46",
    series: "C",
    minimum_billing_amount: "0"
  }
}
const create = ["node", "create", "web", "--plan", plan, "--image", "Ubuntu-22.04"]

/** The report if 7, 8 and 9 are deleted at the same time and 9 gets no reply. The signal may come before the other replies are read. */
const stoppedDeletes = new RegExp(
  [["7", "8"], ["7"], ["8"], []]
    .map((answered) => {
      const open = ["7", "8", "9"].filter((id) => !answered.includes(id))
      const named = (ids: ReadonlyArray<string>, one: string, several: string) =>
        ids.length === 0
          ? ""
          : ` Node${ids.length === 1 ? "" : "s"} ${ids.join(", ")} ${ids.length === 1 ? one : several}\\.`
      const deleting = named(answered, "is being deleted", "are being deleted")
      const unknown = named(open, "may be deleted", "may be deleted")
      const hint = `hint: To delete the rest: berth node delete ${open.join(" ")} --ignore-not-found`
      return `Interrupted; ${answered.length} of 3 deletes were answered\\.${deleting}${unknown}\n${hint}\n$`
    })
    .join("|")
)

/** A command, the request that gets no reply, and what the command then reports. */
const stages: ReadonlyArray<readonly [args: ReadonlyArray<string>, silent: string, reported: RegExp]> = [
  [["node", "list"], "GET /nodes/", /^$/],
  [["node", "watch", "-o", "ndjson"], "GET /nodes/", /^$/],
  [create, "GET /images/", /^$/],
  [create, "POST /nodes/", /the node web may exist\.\nhint: Check whether it exists: berth node list --name web\n$/],
  [
    [...create, "--wait"],
    "GET /nodes/8/",
    /the node exists and is billed\.\nhint: .+: berth node wait 8 --for running\n$/
  ],
  [["node", "delete", "7", "--yes"], "GET /nodes/7/", /^$/],
  [
    ["node", "delete", "7", "--yes"],
    "DELETE /nodes/7/",
    /0 of 1 deletes were answered\. Node 7 may be deleted\.\nhint: .+: berth node delete 7 --ignore-not-found\n$/
  ],
  [["node", "delete", "7", "8", "9", "--yes"], "DELETE /nodes/9/", stoppedDeletes],
  [
    ["commitment", "set", "7", "auto_terminate", "--yes"],
    "POST /update_committed_node_status/",
    /web \(7\) may be set\.\nhint: /
  ]
]

/** Whether every file below a folder is whole: JSON, and no draft. */
const ensureWhole = (folder: string) => {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    assert.notMatch(entry.name, /\.new$|\.\d+$/)
    if (entry.name.endsWith(".json")) JSON.parse(readFileSync(join(entry.parentPath, entry.name), "utf8"))
  }
}

describe("a command that is stopped while it waits for a reply", () => {
  it.live.each(stages)(
    "reports what is left, and leaves no half-written file: berth %j at %s",
    ([args, silent, reported]) =>
      Effect.gen(function* () {
        const home = yield* stateFolder
        for (const [signal, code] of signals) {
          const asked = Promise.withResolvers<void>()
          const url = yield* serve(({ method, path }) => {
            const request = `${method} ${path}`
            const record = nodeRecord({ id: Number(/\d+/.exec(path)?.[0] ?? 7), name: "web", status: "created" })
            if (request === silent) {
              asked.resolve()
              return Effect.never
            }
            if (path === "/images/") return ok([image])
            if (request === "GET /nodes/") return ok([record])
            return request === "POST /nodes/" ? { ...ok({ ...record, id: 8, plan }), status: 202 } : ok(record)
          })
          const running = yield* start(args, { env: { ...account, HOME: home, BERTH_BASE_URL: url } })
          yield* Effect.promise(() => asked.promise)
          yield* running.kill(signal)
          const ended = yield* running.ended
          assert.deepStrictEqual([ended.code, ended.stdout], [code, ""])
          assert.match(ended.stderr.replace(/^(?:Creat|Delet|Setting|web).*\n/gm, ""), reported)
          ensureWhole(home)
        }
      }).pipe(Effect.scoped)
  )
})

describe("a full disk", () => {
  it.each([[["--help"]], [["--version"]], [["profile", "list", "-o", "json"]]])("exits with 10: berth %j", (args) => {
    const full = openSync("/dev/full", "w")
    const { status, stderr } = spawnSync(process.execPath, [binary, ...args], {
      stdio: ["ignore", full, "pipe"],
      env: { PATH: process.env["PATH"] },
      encoding: "utf8"
    })
    closeSync(full)
    assert.strictEqual(status, 10)
    assert.match(stderr, /The output cannot be written: .*no space left on device/)
  })
})
