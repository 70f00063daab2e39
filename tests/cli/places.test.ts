/**
 * Two projects and two locations under one API key: every command uses only the place that its settings name, and never confuses two
 * places.
 */
import { failure, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { json } from "./berth.ts"
import { everyCommand, isLocal, lineOf, stateOf } from "./everyCommand.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const image = {
  name: "Ubuntu 22.04",
  plan: "C-4VCPU-16RAM-100DISK",
  image: "Ubuntu-22.04",
  os: { name: "Ubuntu", version: "22.04", image: "9900" },
  zone: { slug_name: "ncr" },
  specs: { ram: "16.00", cpu: 4, disk_space: 100, price_per_hour: 6.5, price_per_month: 4680, series: "C" }
}

const order = ["--plan", "C-4VCPU-16RAM-100DISK", "--image", "Ubuntu-22.04", "--force", "--yes"]

/** A service that refuses requests without a place and separates places, and berth with one home folder. */
const service = Effect.gen(function* () {
  const places = new Map<string, Array<ReturnType<typeof nodeRecord>>>()
  const requests: Array<Request> = []
  let next = 105
  const answer = (request: Request): Reply => {
    requests.push(request)
    const { body, method, path, query } = request
    const { location, project_id: project } = query
    if (project === undefined || location === undefined) return failure(400, "Project not found")
    const place = `${project} ${location}`
    const nodes = places.get(place) ?? []
    places.set(place, nodes)
    if (path === "/images/") return ok([image])
    if (path.startsWith("/images/")) return ok([])
    if (path === "/update_committed_node_status/") return ok({})
    if (method === "POST") {
      const { name } = body as { readonly name: string }
      const node = nodeRecord({ id: next++, name, created_at: new Date().toISOString() })
      nodes.push(node)
      return ok(node)
    }
    if (path === "/nodes/") {
      const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"])]
      return ok(nodes.slice((page - 1) * size, page * size))
    }
    const at = nodes.findIndex(({ id }) => path === `/nodes/${id}/`)
    if (at < 0) return failure(404, "Not found")
    return ok(method === "DELETE" ? (nodes.splice(at, 1), {}) : nodes[at])
  }
  const url = yield* serve(answer)
  const home = yield* stateFolder
  const credentials = {
    BERTH_API_KEY: "key-of-a-test",
    BERTH_ACCESS_TOKEN: "token-of-a-test",
    BERTH_BASE_URL: url
  }
  const folders = { HOME: home, XDG_STATE_HOME: join(home, "state"), XDG_CONFIG_HOME: join(home, "config") }
  const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
    hurried(invoke(args, { env: { ...folders, ...env } }))
  const berth = (...args: ReadonlyArray<string>) => run(args, credentials)
  const count = () => Array.from(places, ([place, nodes]) => [place, nodes.length] as const)
  /** Saves credentials as the profile `work`. `berth auth login` would read them from stdin, which a test does not have. */
  const saveProfile = (place: object) => {
    mkdirSync(join(home, "config", "berth"), { recursive: true, mode: 0o700 })
    const work = { baseUrl: url, apiKey: "key-of-a-test", accessToken: "token-of-a-test", ...place }
    writeFileSync(
      join(home, "config", "berth", "profiles.json"),
      JSON.stringify({ version: 1, current: "work", profiles: { work } }),
      { mode: 0o600 }
    )
  }
  return { berth, count, credentials, home, requests, run, saveProfile }
})

const delhi = ["--project", "7", "--location", "Delhi"]
const chennai = ["--project", "7", "--location", "Chennai"]

const placeOf = ({ query }: Request) => `${query["project_id"]} ${query["location"]}`

describe("a project and a location", () => {
  for (const row of everyCommand.filter((row) => !isLocal(row) && row.command !== "auth login")) {
    it.live(`go with every request of ${row.command}`, () =>
      Effect.gen(function* () {
        const { credentials, requests, run } = yield* service
        yield* run(lineOf(row, "web", delhi), { ...credentials, ...stateOf(row) })
        const places = new Set(requests.map(placeOf))
        places.delete("7 Delhi")
        assert.deepStrictEqual(Array.from(places), [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("come from flags, then the environment, then the profile, each for itself", () =>
    Effect.gen(function* () {
      const { credentials, requests, run, saveProfile } = yield* service
      saveProfile({ project: 7, location: "Delhi" })
      const environment = { BERTH_PROJECT: "8", BERTH_LOCATION: "Mumbai" }
      const asked = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
        Effect.map(run([...args, "node", "list"], env), () => placeOf(requests.at(-1)!))
      assert.strictEqual(yield* asked([], {}), "7 Delhi")
      assert.strictEqual(yield* asked(["--location", "Chennai"], {}), "7 Chennai")
      assert.strictEqual(yield* asked([], environment), "8 Mumbai")
      assert.strictEqual(yield* asked(["--project", "9"], environment), "9 Mumbai")
      // A named profile means the whole account.
      assert.strictEqual(yield* asked(["--profile", "work"], environment), "7 Delhi")
      assert.strictEqual(yield* asked([], { ...credentials, ...environment }), "8 Mumbai")
    }).pipe(Effect.scoped)
  )

  it.live("are refused one without the other, and where they are none, before anything is sent", () =>
    Effect.gen(function* () {
      const { credentials, requests, run } = yield* service
      for (const [args, env, expected] of [
        [["--project", "7"], {}, /location.*--location/is],
        [["--location", "Delhi"], {}, /project.*--project/is],
        [["--project", "0", "--location", "Delhi"], {}, /--project/],
        [["--project", "x", "--location", "Delhi"], {}, /--project/],
        [["--project", "7", "--location", "a&b"], {}, /--location/],
        [[], { BERTH_PROJECT: "seven", BERTH_LOCATION: "Delhi" }, /BERTH_PROJECT/]
      ] as const) {
        const { code, stderr } = yield* run([...args, "node", "list"], { ...credentials, ...env })
        assert.strictEqual(code, 2, stderr)
        assert.match(stderr, expected)
      }
      assert.deepStrictEqual(requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("are refused where the profile has only one of them, which is named", () =>
    Effect.gen(function* () {
      const { requests, run, saveProfile } = yield* service
      for (const [part, message] of [
        [{ project: 7 }, "The profile work has a project and no location."],
        [{ location: "Delhi" }, "The profile work has a location and no project."]
      ] as const) {
        saveProfile(part)
        const { code, stderr } = yield* run(["node", "list"])
        assert.strictEqual(code, 2, stderr)
        assert.include(stderr, message)
        assert.notInclude(stderr, "BERTH_")
      }
      assert.deepStrictEqual(requests, [])
    }).pipe(Effect.scoped)
  )

  it.live("are refused in the query of berth api if the settings name others", () =>
    Effect.gen(function* () {
      const { credentials, requests, run } = yield* service
      const place = ["--project", "7", "--location", "Delhi"]
      for (const [words, message] of [
        [["/nodes/?location=Chennai"], "The query has the location Chennai, and --location names Delhi."],
        [["/nodes/", "-q", "project_id=8"], "The query has the project 8, and --project names 7."],
        [["DELETE", "/nodes/5/?location=Chennai"], "The query has the location Chennai, and --location names Delhi."],
        [["/nodes/?location=Chennai", "--paginate"], "The query has the location Chennai, and --location names Delhi."]
      ] as const) {
        const { code, stderr } = yield* run([...place, "api", ...words], credentials)
        assert.strictEqual(code, 2, stderr)
        assert.include(stderr, message)
      }
      assert.deepStrictEqual(requests, [])
      yield* run([...place, "api", "/nodes/?location=delhi&project_id=7"], credentials)
      assert.lengthOf(requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("are shown by auth status and profile list", () =>
    Effect.gen(function* () {
      const { run, saveProfile } = yield* service
      saveProfile({ project: 7, location: "Delhi" })
      const status = json<object>(yield* run(["auth", "status", "-o", "json"]))
      assert.deepInclude(status, { project: "7", projectSource: "profile work", location: "Delhi" })
      const [profile] = json<ReadonlyArray<object>>(yield* run(["profile", "list", "-o", "json"]))
      assert.deepInclude(profile, { project: 7, location: "Delhi" })
      const doctor = yield* run(["doctor"])
      assert.match(doctor.stdout, /project 7, from profile work, in Delhi/)
    }).pipe(Effect.scoped)
  )

  it.live("have their own keys: a key makes one node in each place, whatever the case of the location", () =>
    Effect.gen(function* () {
      const { berth, count } = yield* service
      const create = (...place: ReadonlyArray<string>) =>
        berth(...place, "node", "create", "web", ...order, "--idempotency-key", "job")
      for (const place of [delhi, chennai, delhi, chennai]) {
        const { code, stderr } = yield* create(...place)
        assert.strictEqual(code, 0, stderr)
      }
      assert.deepStrictEqual(count(), [
        ["7 Delhi", 1],
        ["7 Chennai", 1]
      ])
      // For the test's service, `delhi` is a different place, so a second create would show there.
      yield* create("--project", "7", "--location", "delhi")
      assert.deepStrictEqual(count().at(-1), ["7 delhi", 0])
    }).pipe(Effect.scoped)
  )

  it.live("see nothing of one another in lists, names, costs, inventories, runs, leases and the history", () =>
    Effect.gen(function* () {
      const { berth, count } = yield* service
      const good = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const ended = yield* berth(...args)
        assert.strictEqual(ended.code, 0, `${args.join(" ")}: ${ended.stderr}`)
        return ended
      })
      yield* good(...delhi, "node", "create", "web", ...order)
      yield* good(...chennai, "node", "create", "db-1", ...order)
      yield* good(...delhi, "run", "--name", "kept-run", "--reuse", ...order, "--wait", "running", "--", "true")
      for (const [place, own, other] of [
        [delhi, "web", "db-1"],
        [chennai, "db-1", "web"]
      ] as const) {
        for (const command of [
          ["node", "list", "-o", "json"],
          ["node", "list", "-o", "json", "--name", "*"],
          ["cost", "-o", "json"],
          ["inventory", "--ansible", "--list"],
          ["ssh-config"],
          ["history", "-o", "json"]
        ]) {
          const { stdout } = yield* good(...place, ...command)
          assert.include(stdout, own, command.join(" "))
          assert.notInclude(stdout, other, command.join(" "))
        }
        assert.strictEqual((yield* berth(...place, "node", "get", other)).code, 4)
        const [, id] = /"id":(\d+)/.exec(
          (yield* good(...place, "node", "get", own, "-o", "json")).stdout.replaceAll(" ", "")
        )!
        const elsewhere = place === delhi ? chennai : delhi
        assert.strictEqual((yield* berth(...elsewhere, "node", "delete", id!, "--yes")).code, 4)
      }
      // The kept node of the run in Delhi is not reaped, reused or shown elsewhere.
      assert.notInclude((yield* good(...chennai, "history", "-o", "json")).stdout, "kept-run")
      yield* good(...chennai, "reap")
      assert.deepStrictEqual(count(), [
        ["7 Delhi", 2],
        ["7 Chennai", 1]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("have their own fleets: a ledger of one place is refused in another", () =>
    Effect.gen(function* () {
      const { berth, count, home } = yield* service
      const file = join(home, "fleet.yaml")
      writeFileSync(
        file,
        "fleet: shop\nnodes:\n  web: { count: 2, plan: C-4VCPU-16RAM-100DISK, image: Ubuntu-22.04 }\n"
      )
      const apply = (...place: ReadonlyArray<string>) => berth(...place, "apply", "-f", file, "--yes")
      const first = yield* apply(...delhi)
      assert.strictEqual(first.code, 0, first.stderr)
      for (const command of [
        ["apply", "-f", file, "--yes"],
        ["diff", "-f", file],
        ["destroy", "-f", file, "--yes", "--max-deletes", "5"]
      ]) {
        const elsewhere = yield* berth(...chennai, ...command)
        assert.strictEqual(elsewhere.code, 10, elsewhere.stderr)
        assert.match(elsewhere.stderr, /belongs to another account or place: .*\(project 7 in Chennai\)/)
        assert.match(elsewhere.stderr, /hint: Use the profile, the project and the location/)
      }
      assert.deepStrictEqual(new Map(count()).get("7 Delhi"), 2)
      assert.strictEqual(new Map(count()).get("7 Chennai") ?? 0, 0)
      assert.strictEqual((yield* apply(...delhi)).code, 0)
      assert.strictEqual(new Map(count()).get("7 Delhi"), 2)
    }).pipe(Effect.scoped)
  )

  it.live("are in the commands that berth suggests", () =>
    Effect.gen(function* () {
      const { berth } = yield* service
      const { stderr } = yield* berth(...delhi, "node", "get", "nobody")
      assert.match(stderr, /berth --project 7 --location Delhi node list/)
    }).pipe(Effect.scoped)
  )
})
