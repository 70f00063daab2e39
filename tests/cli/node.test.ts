/**
 * The life of nodes from the command line, against the mock service.
 */
import { Node } from "@berthkit/core/domain/Node"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect, Schema } from "effect"
import { firstStatus, inDialect, shownPlan } from "../account.ts"
import { controls, json, lines, settings, start } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

const plan = "C-2VCPU-8RAM-50DISK"
const image = "Ubuntu-22.04"

/** Creates a node and returns its id. */
const created = (name: string) =>
  Effect.map(
    berth(["node", "create", "--name", name, "--plan", plan, "--image", image, "-o", "json"]),
    (ended) => json<{ readonly id: number }>(ended).id
  )

const names = (stdout: string) => JSON.parse(stdout).map(({ name }: { readonly name: string }) => name)

describe("node list", () => {
  it.live("lists every node, over more pages than one", () =>
    Effect.gen(function* () {
      const all = yield* berth(["node", "list", "-o", "ndjson"])
      assert.deepStrictEqual([all.code, all.stderr], [0, ""])
      assert.strictEqual(new Set(lines(all.stdout).map((line) => JSON.parse(line).id)).size, 250)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 250 } }))))
  )

  it.live("reports if there are more than --limit, and prints nothing otherwise", () =>
    Effect.gen(function* () {
      for (const format of ["table", "yaml", "csv"]) {
        const some = yield* berth(["node", "list", "--limit", "3", "-o", format])
        assert.strictEqual(some.stderr, "3 of 5.\n")
        const all = yield* berth(["node", "list", "--limit", "5", "-o", format])
        assert.strictEqual(all.stderr, "")
      }
      assert.lengthOf(json<ReadonlyArray<unknown>>(yield* berth(["node", "list", "--limit", "3", "-o", "json"])), 3)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("reports the total if it knows it: with --sort, which reads all nodes", () =>
    Effect.gen(function* () {
      const first = yield* berth(["node", "list", "--limit", "3", "-o", "id"])
      assert.deepStrictEqual([lines(first.stdout).length, first.stderr], [3, "Stopped at --limit 3; there are more.\n"])
      const all = json<ReadonlyArray<{ readonly id: number }>>(yield* berth(["node", "list", "-o", "json"]))
      const newest = yield* berth(["node", "list", "--limit", "3", "--sort", "-id", "-o", "id"])
      const expected = all.map(({ id }) => id).toSorted((a, b) => b - a)
      assert.deepStrictEqual(lines(newest.stdout).map(Number), expected.slice(0, 3))
      assert.strictEqual(newest.stderr, "3 of 250.\n")
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 250 } }))))
  )

  it.live("reports the total if the service does and all were requested", () =>
    Effect.gen(function* () {
      const nodes = Array.from({ length: 900 }, (_, i) => nodeRecord({ id: i + 1 }))
      const url = yield* serve(({ query }) => {
        const [page, size] = [Number(query["page_no"]), Number(query["per_page"])]
        const data = nodes.slice((page - 1) * size, page * size)
        const envelope = { ...JSON.parse(ok(data).body), total_count: nodes.length, total_page_number: 900 / size }
        return { ...ok(data), body: JSON.stringify(envelope) }
      })
      const env = { ...(yield* settings), BERTH_BASE_URL: url }
      const list = (...args: ReadonlyArray<string>) =>
        Effect.map(invoke(["node", "list", "--limit", "20", "-o", "id", ...args], { env }), ({ stderr }) => stderr)
      assert.strictEqual(yield* list(), "20 of 900.\n")
      assert.strictEqual(yield* list("--status", "running"), "Stopped at --limit 20; there are more.\n")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("filters by name, status, series and plan", () =>
    Effect.gen(function* () {
      const { stdout } = yield* berth(["node", "list", "-o", "json"])
      const all = JSON.parse(stdout) as ReadonlyArray<typeof Node.Encoded & { readonly plan: string }>
      const first = all[0]!
      const filtered = (...args: ReadonlyArray<string>) =>
        Effect.map(berth(["node", "list", "-o", "json", ...args]), ({ stdout }) => names(stdout))
      assert.deepStrictEqual(yield* filtered("--name", "web-*"), ["web-1", "web-2"])
      assert.deepStrictEqual(yield* filtered("--name", "web-1"), ["web-1"])
      assert.deepStrictEqual(yield* filtered("--status", "terminate"), [])
      assert.lengthOf(yield* filtered("--status", "terminate,running"), 5)
      const same = (test: (plan: string) => boolean) => all.filter((node) => test(node.plan)).map(({ name }) => name)
      assert.deepStrictEqual(
        yield* filtered("--plan", first.plan),
        same((plan) => plan === first.plan)
      )
      const series = first.plan[0]!
      assert.deepStrictEqual(
        yield* filtered("--series", series.toLowerCase()),
        same((plan) => plan.startsWith(series))
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("reports that no node matches, not that there are no nodes", () =>
    Effect.gen(function* () {
      for (const [args, note] of [
        [["--name", "none"], "There are no nodes that match.\n"],
        [["--page", "9"], "There are no nodes on this page.\n"],
        [["--page", "1", "--status", "terminate"], "There are no nodes that match on this page.\n"]
      ] as const) {
        assert.strictEqual((yield* berth(["node", "list", ...args])).stderr, note)
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("gives one page when asked for it, and reports that there may be more", () =>
    Effect.gen(function* () {
      const page = yield* berth(["node", "list", "--page", "2", "--per-page", "2", "-o", "id"])
      assert.lengthOf(lines(page.stdout), 2)
      assert.strictEqual(page.stderr, "There may be more: --page 3.\n")
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("if empty, is [] in JSON, and a note with an empty stdout in a table", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* berth(["node", "list", "-o", "json"])).stdout, "[]\n")
      assert.deepStrictEqual(yield* berth(["node", "list", "-o", "ndjson"]), { code: 0, stdout: "", stderr: "" })
      assert.deepStrictEqual(yield* berth(["node", "list"]), { code: 0, stdout: "", stderr: "There are no nodes.\n" })
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("prints the domain's own record as JSON", () =>
    Effect.gen(function* () {
      const decode = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(Node)))
      const nodes = decode(json(yield* berth(["node", "list", "-o", "json"])))
      assert.lengthOf(nodes, 5)
      const text = (yield* berth(["node", "list", "-o", "ndjson"])).stdout
      assert.deepStrictEqual(decode(lines(text).map((line) => JSON.parse(line))), nodes)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("ends quietly when its reader goes away", () =>
    Effect.gen(function* () {
      const running = yield* start(["node", "list", "-o", "ndjson", "--debug"], { env: yield* settings })
      yield* running.untilStderr("nodes.list 200")
      yield* running.hangUp
      const { code, stderr } = yield* running.ended
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(
        lines(stderr).filter((line) => !line.startsWith("debug: ")),
        []
      )
      // The reader has gone, so the command requests no more of the account's 201 pages.
      assert.isBelow(lines(stderr).length, 20)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 20_000 } }))))
  )
})

describe("a node's name", () => {
  it.live("does nothing to the terminal, whatever is in it", () =>
    Effect.gen(function* () {
      const name = "evil\u001b[2J\nrow\t\u009b31m\u202edne"
      yield* created(name)
      for (const args of [
        ["node", "list"],
        ["node", "get", name],
        ["node", "delete", name, "--dry-run"],
        ["api", "GET", "/nodes/"]
      ]) {
        const { stderr, stdout } = yield* berth(args)
        assert.notMatch(stdout + stderr, controls, args.join(" "))
        assert.notInclude(stdout + stderr, "\u202e")
      }
      assert.lengthOf(lines((yield* berth(["node", "list"])).stdout), 2)
      for (const format of ["json", "ndjson"]) {
        const { stdout } = yield* berth(["node", "list", "-o", format])
        assert.notMatch(stdout, controls)
        assert.strictEqual([JSON.parse(stdout)].flat()[0].name, name)
      }
      const missing = yield* berth(["node", "get", "no\u001b[31mne"])
      assert.notMatch(missing.stderr, controls)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node get", () => {
  it.live("takes ids, names and patterns, each node once", () =>
    Effect.gen(function* () {
      const id = String(yield* created("alpha"))
      yield* created("beta")
      const ids = (...args: ReadonlyArray<string>) =>
        Effect.map(berth(["node", "get", ...args, "-o", "ndjson"]), ({ stdout }) => lines(stdout).length)
      assert.strictEqual(yield* ids(id), 1)
      assert.strictEqual(yield* ids("alpha", id, "al*"), 1)
      assert.strictEqual(yield* ids("*a"), 2)
      // A single node is printed as an object. A pattern is printed as a list, even if it matches only one node.
      assert.isFalse(Array.isArray(json(yield* berth(["node", "get", "alpha", "-o", "json"]))))
      assert.isTrue(Array.isArray(json(yield* berth(["node", "get", "alph?", "-o", "json"]))))
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("lists the candidates of an ambiguous name, and exits 2", () =>
    Effect.gen(function* () {
      const ids = [yield* created("twin"), yield* created("twin")]
      for (const args of [
        ["node", "get", "twin"],
        ["node", "delete", "twin", "--yes"],
        ["commitment", "set", "twin", "auto_terminate", "--yes"]
      ]) {
        const { code, stderr, stdout } = yield* berth(args)
        assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" })
        for (const id of ids) assert.include(stderr, `${id} (${firstStatus})`)
      }
      assert.lengthOf(
        json<ReadonlyArray<unknown>>(yield* berth(["node", "list", "--status", firstStatus, "-o", "json"])),
        2
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect({ uniqueNames: false }))))
  )

  it.live("knows of a node named by name what the list knows and the single reply does not", () =>
    Effect.gen(function* () {
      const id = yield* created("alpha")
      const node = json<typeof Node.Encoded>(yield* berth(["node", "get", "alpha", "-o", "json"]))
      assert.deepStrictEqual(
        { id: node.id, plan: node.plan, locked: node.locked },
        { id, plan: shownPlan(plan), locked: false }
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node create", () => {
  it.live("shows the price beforehand, and with --dry-run creates nothing", () =>
    Effect.gen(function* () {
      const args = ["node", "create", "--name", "web", "--plan", plan, "--image", image, "--tag", "a", "--tag", "b"]
      const { code, stdout } = yield* berth([...args, "--dry-run", "-o", "json"])
      const preview = JSON.parse(stdout)
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(preview.request, {
        method: "POST",
        path: "/myaccount/api/v1/nodes/",
        body: { name: "web", region: "ncr", plan, image, tags: ["a", "b"] }
      })
      assert.isAbove(preview.pricePerHourInr, 0)
      assert.isAbove(preview.pricePerMonthInr, preview.pricePerHourInr)
      assert.strictEqual((yield* berth(["node", "list", "-o", "json"])).stdout, "[]\n")
      const { stderr } = yield* berth(args)
      assert.include(stderr, `₹${preview.pricePerHourInr} per hour`)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("sends every field it has a flag for", () =>
    Effect.gen(function* () {
      const flags =
        "--ssh-key k1 --ssh-key k2 --tag t --backups --saved-image 7 --committed-sku 8 --security-group 9 --vpc v " +
        `--start-script ${import.meta.filename} --no-public-ip --ipv6 --label l --disable-password --force --dry-run -o json`
      const args = ["node", "create", "--name", "web", "--plan", plan, "--image", "42", ...flags.split(" ")]
      const { body } = json<{ readonly request: { readonly body: Record<string, unknown> } }>(
        yield* berth(args)
      ).request
      const { start_scripts: scripts, ...rest } = body
      assert.match(String(scripts), /^\/\*\*\n \* The life of nodes/)
      assert.deepStrictEqual(rest, {
        name: "web",
        region: "ncr",
        plan,
        image: 42,
        ssh_keys: ["k1", "k2"],
        backups: true,
        tags: ["t"],
        is_saved_image: true,
        saved_image_template_id: 7,
        cn_id: 8,
        label: "l",
        disable_password: true,
        is_ipv6_availed: true,
        vpc_id: "v",
        default_public_ip: false,
        security_group_id: 9
      })
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("names the field that the service refused", () =>
    Effect.gen(function* () {
      const args = ["node", "create", "web", "--plan", `${plan}S`, "--image", image, "--force", "--yes"]
      const { code, stderr, stdout } = yield* berth(args)
      assert.deepStrictEqual({ code, stdout }, { code: 5, stdout: "" })
      assert.include(stderr, "error: The service refused the request: plan: ")
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("with --wait waits until the node runs, with a line for each change", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const args = ["node", "create", "--name", "web", "--plan", plan, "--image", image, "--wait", "-o", "yaml"]
      const running = yield* start(args, { env: yield* settings })
      yield* running.untilStderr(`: ${firstStatus}`)
      yield* server.advance("3 seconds")
      const { code, stderr, stdout } = yield* running.ended
      assert.strictEqual(code, 0)
      assert.match(stdout, new RegExp(`^status: running$[^]*^plan: ${shownPlan(plan)}$`, "m"))
      assert.deepStrictEqual(
        lines(stderr).flatMap((line) => /^web \(\d+\): (\w+)/.exec(line)?.[1] ?? []),
        [firstStatus, "running"]
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node wait", () => {
  it.live("on Ctrl-C changes nothing, prints the command to continue with the same arguments, and exits 130", () =>
    Effect.gen(function* () {
      yield* created("slow")
      yield* created("other")
      const running = yield* start(["node", "wait", "slow", "o*"], { env: yield* settings })
      yield* running.untilStderr("slow")
      yield* running.untilStderr("other")
      yield* running.kill("SIGINT")
      const { code, stderr, stdout } = yield* running.ended
      assert.deepStrictEqual({ code, stdout }, { code: 130, stdout: "" })
      assert.include(stderr, "berth node wait slow 'o*' --for running\n")
      assert.notInclude(stderr, "error:")
      assert.strictEqual(
        json<typeof Node.Encoded>(yield* berth(["node", "get", "slow", "-o", "json"])).status,
        firstStatus
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("exits 7 if the time runs out, and 5 if the node can no longer reach the status", () =>
    Effect.gen(function* () {
      const id = String(yield* created("slow"))
      const late = yield* berth(["node", "wait", id, "--timeout", "5s"])
      assert.strictEqual(late.code, 7)
      assert.match(late.stderr, new RegExp(`node ${id} is ${firstStatus}\\b.*\\brunning`))
      yield* berth(["node", "delete", id, "--yes"])
      const never = yield* berth(["node", "wait", id])
      assert.strictEqual(never.code, 5)
      assert.include(never.stderr, "which cannot become running")
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node delete", () => {
  it.live("changes nothing without --yes where there is no terminal, nor with --dry-run", () =>
    Effect.gen(function* () {
      const id = yield* created("keep")
      const refused = yield* berth(["node", "delete", "keep"])
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      const preview = yield* berth(["node", "delete", "keep", "--dry-run", "-o", "ndjson"])
      assert.deepInclude(JSON.parse(preview.stdout), {
        action: "delete",
        id,
        name: "keep",
        request: { method: "DELETE", path: `/myaccount/api/v1/nodes/${id}/`, body: null }
      })
      assert.strictEqual(
        json<typeof Node.Encoded>(yield* berth(["node", "get", "keep", "-o", "json"])).status,
        firstStatus
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("with --ignore-not-found succeeds for nodes that do not exist, and says which", () =>
    Effect.gen(function* () {
      const id = yield* created("alpha")
      const remove = (...args: ReadonlyArray<string>) =>
        berth(["node", "delete", ...args, "--ignore-not-found", "--yes"])
      const all = yield* remove("alpha", "beta", "tmp-*", "7", "-o", "ndjson")
      assert.deepStrictEqual([all.code, all.stderr], [0, ""])
      assert.deepStrictEqual(
        lines(all.stdout).map((line) => {
          const { id, name, outcome } = JSON.parse(line)
          return [id, name, outcome]
        }),
        [
          [id, "alpha", "deleting"],
          [null, "beta", "absent"],
          [null, "tmp-*", "absent"],
          [7, null, "absent"]
        ]
      )
      const one = yield* remove("beta")
      assert.strictEqual(one.code, 0)
      assert.match(one.stdout, / beta +absent\n$/)
      const dry = yield* berth(["node", "delete", "beta", "--ignore-not-found", "--dry-run", "-o", "json"])
      assert.deepStrictEqual([dry.code, dry.stdout], [0, "[]\n"])
      const { code } = yield* berth(["node", "delete", "beta", "--yes"])
      assert.strictEqual(code, 4)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("with --ignore-not-found still fails if the service fails", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* created("alpha")
      yield* arm([{ fault: "status", status: 403, scope: { operation: "nodes.delete" } }])
      const { code } = yield* berth(["node", "delete", "alpha", "beta", "--ignore-not-found", "--yes"])
      assert.strictEqual(code, 9)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("with --wait waits until the nodes are gone, with a row for each", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      yield* created("alpha")
      yield* created("beta")
      const running = yield* start(["node", "delete", "alpha", "beta", "gamma", "--yes", "--wait"], {
        env: yield* settings
      })
      yield* running.untilStderr("beta (")
      yield* running.untilStderr("alpha (")
      yield* server.advance("3 seconds")
      const { code, stdout } = yield* running.ended
      assert.strictEqual(code, 9)
      const [, ...rows] = lines(stdout).map((line) => line.trim().split(/ {2,}/).slice(1))
      assert.deepStrictEqual(rows, [
        ["alpha", "deleted", "-"],
        ["beta", "deleted", "-"],
        ["gamma", "failed", "No node matches gamma."]
      ])
      assert.strictEqual((yield* berth(["node", "list", "-o", "json"])).stdout, "[]\n")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("commitment set", () => {
  it.live("sets what happens at the end of a commitment", () =>
    Effect.gen(function* () {
      const id = yield* created("web")
      const plans = json<ReadonlyArray<{ plan: string; committedOptions: ReadonlyArray<{ skuId: number }> }>>(
        yield* berth(["plan", "list", "-o", "json"])
      )
      const skuId = plans.find((each) => each.plan === shownPlan(plan))!.committedOptions[0]!.skuId
      const refused = yield* berth(["commitment", "set", "web", "auto_renew", "--yes"])
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      const { code, stdout } = yield* berth([
        "commitment",
        "set",
        "web",
        "auto_renew",
        "--sku",
        String(skuId),
        "--yes",
        "--max-commitment",
        "100000",
        "-o",
        "json"
      ])
      const { node, ...row } = JSON.parse(stdout)
      assert.deepStrictEqual([code, row], [0, { id, name: "web", setting: "auto_renew", skuId }])
      const shown = yield* berth(["node", "get", "web", "-o", "json"])
      assert.deepStrictEqual(node, JSON.parse(shown.stdout))
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})
