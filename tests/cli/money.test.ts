/**
 * Tests money with a service that has an arbitrary price for each plan and image. The amounts that `berth` shows, adds up and limits must
 * be the price of the node that is made.
 */
import { globSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { lost, nodeRecord, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "./berth.ts"
import { startAgent } from "./mcp/Agent.ts"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const plan = "P-2VCPU-4RAM-40DISK"

interface Offer {
  readonly image: string
  readonly perHour: unknown
  readonly id?: string
  readonly minimum?: unknown
  readonly skus?: ReadonlyArray<readonly [id: number, days: number, price: unknown]>
}

const offer = ({ id, image, minimum = "0", perHour, skus = [] }: Offer) => ({
  name: `${image} (name)`,
  plan,
  image,
  os: { name: image, version: null, image: id ?? `os-${image}` },
  zone: { slug_name: "ncr" },
  specs: {
    ram: "4.00",
    cpu: 2,
    disk_space: 40,
    price_per_hour: perHour,
    price_per_month: typeof perHour === "string" && /^[\d.]+$/.test(perHour) ? String(Number(perHour) * 730) : perHour,
    series: "P",
    minimum_billing_amount: minimum,
    committed_sku: skus.map(([committed_sku_id, committed_days, committed_sku_price]) => ({
      committed_sku_id,
      committed_days,
      committed_sku_price,
      committed_sku_name: "",
      committed_node_message: "",
      committed_upto_date: ""
    }))
  }
})

const ubuntu = offer({ image: "Ubuntu", id: "11", perHour: "6.46", skus: [[7, 30, "4000"]] })
const windows = offer({ image: "Windows", id: "12", perHour: "20.50", skus: [[7, 30, "13000"]] })

type Row = Readonly<Record<string, unknown>>

interface Account {
  /** The reply to a commitment request, given the number of earlier ones. */
  readonly commitmentReply?: (before: number) => Reply
  readonly images?: ReadonlyArray<unknown>
  readonly saved?: ReadonlyArray<unknown>
  readonly nodes?: ReadonlyArray<{ readonly id: number } & Row>
}

const envOf = (url: string, state: string) => ({
  BERTH_API_KEY: "the-key-of-a-test",
  BERTH_ACCESS_TOKEN: "the-token-of-a-test",
  BERTH_BASE_URL: url,
  XDG_STATE_HOME: state,
  XDG_CACHE_HOME: state
})

/** A service with this catalogue, a function that runs `berth` against it, and the changes that were requested. */
const account = Effect.fnUntraced(function* ({
  commitmentReply = () => ok({}),
  images = [ubuntu, windows],
  nodes = [],
  saved = []
}: Account = {}) {
  const made: Array<Record<string, unknown>> = []
  const committed: Array<unknown> = []
  const url = yield* serve(({ body, method, path, query }) => {
    if (path === "/images/") return ok(images)
    if (path === "/images/saved-images/") return ok(saved)
    if (path === "/update_committed_node_status/") {
      return commitmentReply(committed.push(body) - 1)
    }
    if (method === "POST") {
      made.push(body as Record<string, unknown>)
      return { ...ok(nodeRecord({ id: 7, name: "w", plan })), status: 202 }
    }
    if (method === "DELETE") return { status: 204 }
    const listed = nodes.map((node) => nodeRecord(node))
    const [page, size] = [Number(query["page_no"] ?? 1), Number(query["per_page"] ?? 20)]
    return path === "/nodes/"
      ? ok(listed.slice((page - 1) * size, page * size))
      : ok(listed.find(({ id }) => path === `/nodes/${id}/`) ?? nodeRecord({ id: 7, name: "w", plan }))
  })
  const state = yield* stateFolder
  const env = envOf(url, state)
  return { made, committed, state, env, berth: (...args: ReadonlyArray<string>) => invoke(args, { env }) }
})

const create = ["node", "create", "w", "--plan", plan, "--image"]

/** A record whose prices are in dollars. */
const dollars = {
  ...offer({ image: "Ubuntu", id: "11", perHour: "0.04", minimum: "1", skus: [[7, 30, "48"]] }),
  currency: "USD"
}

describe("a price in another currency", () => {
  it.live("is named with its own sign, and no limit in rupees is compared with it", () =>
    Effect.gen(function* () {
      const { berth, made } = yield* account({ images: [dollars] })
      const dry = json<Row>(yield* berth(...create, "Ubuntu", "--dry-run", "-o", "json"))
      assert.deepInclude(dry, {
        pricePerHourInr: null,
        minimumBillingInr: null,
        foreignPrice: { currency: "USD", perHour: 0.04, perMonth: 29.2 }
      })
      const refused = yield* berth(...create, "Ubuntu", "--max-cost", "1000", "--yes")
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, "The price is in USD, and --max-cost is in rupees: they cannot be compared.")
      const run = yield* berth("run", "--plan", plan, "--image", "Ubuntu", "--max-cost", "1000", "--", "true")
      assert.strictEqual(run.code, 2)
      assert.include(run.stderr, "The price is in USD, and --max-cost is in rupees: they cannot be compared.")
      assert.include(run.stderr, "or omit --max-cost: berth then asks you")
      assert.isEmpty(made)
      const many = yield* berth(...create, "Ubuntu", "--count", "2", "--yes")
      assert.include(many.stderr, "together: each $0.04 per hour, $29.20 per month")
      assert.notInclude(many.stderr.replaceAll(/₹(\/HOUR|\/MONTH| COMMITTED| MINIMUM)/g, ""), "₹")
    }).pipe(Effect.scoped)
  )

  it.live("of a commitment is named, and refused with a limit in rupees", () =>
    Effect.gen(function* () {
      const { berth, committed, made } = yield* account({
        images: [dollars],
        nodes: [{ id: 7, name: "w", plan, image: "Ubuntu" }]
      })
      const sentence = "The price of a commitment is in USD, and --max-commitment is in rupees: nothing was changed."
      const changes = [
        [...create, "Ubuntu", "--committed-sku", "7"],
        ["commitment", "set", "7", "auto_renew", "--sku", "7"]
      ]
      for (const change of changes) {
        for (const flags of [["--yes"], ["--yes", "--max-commitment", "5000"]]) {
          const refused = yield* berth(...change, ...flags)
          assert.strictEqual(refused.code, 2)
          assert.include(refused.stderr, sentence)
        }
      }
      assert.isEmpty(made)
      assert.isEmpty(committed)
      const shown = yield* berth(...changes[1]!, "--dry-run")
      assert.include(shown.stdout, "at $48.00")
      const bought = json<Row>(yield* berth(...changes[0]!, "--dry-run", "-o", "json"))
      assert.deepInclude(bought, {
        committedPriceInr: null,
        foreignCommittedPrice: { currency: "USD", amount: 48 }
      })
      const asked = yield* berth(...changes[0]!, "--dry-run")
      assert.include(asked.stdout, "$48.00")
      const card = yield* berth("plan", "get", plan)
      assert.include(card.stdout, "$48.00 (SKU 7)")
      assert.notInclude(card.stdout, "₹-")
      const table = yield* berth("plan", "list")
      assert.include(table.stdout, "$48.00 (7)")
    }).pipe(Effect.scoped)
  )

  it.live("is added up next to the rupees of other nodes, never with them", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({
        images: [dollars, { ...offer({ image: "Debian", id: "12", perHour: "6.5" }), plan: "Q" }],
        nodes: [
          { id: 7, name: "v", plan, image: "Ubuntu" },
          { id: 8, name: "w", plan, image: "Ubuntu" },
          { id: 9, name: "x", plan: "Q", image: "Debian" }
        ]
      })
      const shown = yield* berth("cost", "--by", "status")
      assert.match(shown.stdout, /≥ 6\.50 \+ \$0\.08/)
      assert.include(shown.stderr, "2 nodes in USD: $0.08 per hour, $58.40 per month, not included in the rupee sums.")
      assert.notInclude(shown.stderr, "without an exact price")
      const rows = json<ReadonlyArray<Row>>(yield* berth("cost", "-o", "json"))
      assert.deepInclude(rows[0], {
        pricePerHourInr: null,
        foreign: [{ currency: "USD", nodes: 1, perHour: 0.04, perMonth: 29.2 }]
      })
      assert.deepInclude(rows[2], { pricePerHourInr: 6.5, foreign: [] })
    }).pipe(Effect.scoped)
  )

  it.live("is named by what an agent proposes, and a server with a bound in rupees refuses it", () =>
    Effect.gen(function* () {
      const { env } = yield* account({ images: [dollars], nodes: [{ id: 7, name: "w", plan, image: "Ubuntu" }] })
      const order = { action: "create", name: "web", plan, image: "Ubuntu" }
      const agent = yield* startAgent(["--allow", "create,commit"], { env })
      const propose = (to: typeof agent, args: object) => Effect.promise(() => to.call("propose", args))
      const { structuredContent } = yield* propose(agent, order)
      assert.include(String(structuredContent["summary"]), "$0.04 per hour, $29.20 per month")
      const commit = { action: "commit", node: "7", setting: "auto_renew", sku: 7 }
      assert.include(String((yield* propose(agent, commit)).structuredContent["summary"]), "at $48.00")
      const bounded = yield* startAgent(["--allow", "create", "--max-cost", "1000"], { env })
      const { content, isError } = yield* propose(bounded, order)
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "The price is in USD, and the limit of this server is in rupees")
    }).pipe(Effect.scoped)
  )
})

describe("a server for an agent with a bound on commitments", () => {
  const order = { action: "create", name: "web", plan, image: "Ubuntu", sku: 7 }
  const commit = (node: string, more: object = { sku: 7 }) => ({
    action: "commit",
    node,
    setting: "auto_renew",
    ...more
  })
  const bounded = (atMost: number, options: Account = {}) =>
    Effect.gen(function* () {
      const nodes = [7, 8, 9].map((id) => ({ id, name: `w${id}`, plan, image: "Ubuntu" }))
      const { committed, env } = yield* account({ nodes, ...options })
      const flags = ["--allow", "create,commit", "--max-cost", "1000", "--max-commitment", String(atMost)]
      const agent = yield* startAgent(flags, { env, person: () => "accept" })
      const call = (tool: string, args: object) => Effect.promise(() => agent.call(tool, args))
      const execute = (args: object) =>
        Effect.gen(function* () {
          const { structuredContent } = yield* call("propose", args)
          return yield* call("execute", { proposal: structuredContent["id"] })
        })
      return { call, execute, committed }
    })

  it.live("proposes none above it, by create or commit, and none whose price is not known", () =>
    Effect.gen(function* () {
      const { call } = yield* bounded(3999)
      for (const change of [order, commit("7")]) {
        const { content, isError } = yield* call("propose", change)
        assert.isTrue(isError)
        assert.include(JSON.stringify(content), "commitments for ₹4000.00, more than ₹3999.00")
        assert.include(JSON.stringify(content), "berth mcp --max-commitment ₹")
      }
      const { content, isError } = yield* call("propose", commit("7", {}))
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "is not known")
      const free = { action: "commit", node: "7", setting: "hourly_billing" }
      assert.isNotTrue((yield* call("propose", free)).isError)
      const { structuredContent } = yield* call("account", {})
      assert.deepInclude(structuredContent["allowed"], { maxCommitmentInr: 3999 })
    }).pipe(Effect.scoped)
  )

  it.live("counts purchases that were made or may have been made, but none that was refused", () =>
    Effect.gen(function* () {
      const refused: Reply = { status: 422, body: JSON.stringify({ code: 422, message: "No", data: {}, errors: {} }) }
      const replies = [refused, ok({}), lost]
      const { call, committed, execute } = yield* bounded(8000, {
        commitmentReply: (before) => replies[before] ?? ok({})
      })
      for (const node of ["7", "7", "8"]) yield* execute(commit(node))
      assert.lengthOf(committed, 3)
      const { content, isError } = yield* call("propose", commit("9"))
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "commitments for ₹12000.00, more than ₹8000.00")
    }).pipe(Effect.scoped)
  )
})

describe("the price of a create", () => {
  it.live("is that of its plan and its image together, whichever is listed first", () =>
    Effect.gen(function* () {
      for (const images of [
        [ubuntu, windows],
        [windows, ubuntu]
      ]) {
        const { berth, made } = yield* account({ images })
        for (const image of ["Windows", "12", "Windows (name)"]) {
          const refused = yield* berth(...create, image, "--max-cost", "7")
          assert.strictEqual(refused.code, 2)
          assert.include(refused.stderr, "The node costs ₹20.50 per hour, more than --max-cost 7.")
        }
        assert.isEmpty(made)
        const dry = json<{ pricePerHourInr: number }>(yield* berth(...create, "Windows", "--dry-run", "-o", "json"))
        assert.strictEqual(dry.pricePerHourInr, 20.5)
        const done = yield* berth(...create, "Ubuntu", "--max-cost", "6.46")
        assert.strictEqual(done.code, 0, done.stderr)
        assert.include(done.stderr, "₹6.46 per hour, ₹4715.80 per month")
        assert.lengthOf(made, 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is shown with the least that is billed, which is no part of a limit per hour", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ images: [offer({ image: "Ubuntu", perHour: "6.46", minimum: "155.04" })] })
      const dry = json<Row>(yield* berth(...create, "Ubuntu", "--dry-run", "-o", "json"))
      assert.strictEqual(dry["minimumBillingInr"], 155.04)
      const done = yield* berth(...create, "Ubuntu", "--max-cost", "6.46")
      assert.strictEqual(done.code, 0, done.stderr)
      assert.include(done.stderr, "₹6.46 per hour, ₹4715.80 per month, minimum charge ₹155.04.")
      const doubtful = yield* account({
        images: ["155.04", null].map((minimum) => offer({ image: "Ubuntu", perHour: "6.46", minimum }))
      })
      const open = json<Row>(yield* doubtful.berth(...create, "Ubuntu", "--dry-run", "-o", "json"))
      assert.deepStrictEqual([open["pricePerHourInr"], open["minimumBillingInr"]], [6.46, null])
    }).pipe(Effect.scoped)
  )

  it.live("is not ordered if its minimum charges are more than --max-minimum, or not known", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ images: [offer({ image: "Ubuntu", perHour: "6.46", minimum: "155.04" })] })
      const two = [...create, "Ubuntu", "--count", "2", "--dry-run"]
      const run = ["run", "--plan", plan, "--image", "Ubuntu", "--yes", "--dry-run"]
      const ended = Effect.map(
        Effect.forEach(
          [
            [...two, "--max-minimum", "310"],
            [...two, "--max-minimum", "310.08"],
            [...run, "--max-minimum", "155", "--", "true"],
            [...run, "--max-minimum", "156", "--", "true"]
          ],
          (args) => berth(...args)
        ),
        (all) => all.map(({ code }) => code)
      )
      assert.deepStrictEqual(yield* ended, [2, 0, 2, 0])
      const unknown = yield* account({ images: [offer({ image: "Ubuntu", perHour: "6.46", minimum: null })] })
      const refused = yield* unknown.berth(...create, "Ubuntu", "--yes", "--max-minimum", "1000")
      assert.strictEqual(refused.code, 2)
      assert.include(refused.stderr, "The minimum charge of a new node is not known")
    })
  )

  it.live("is shown with its minimum charge by plan list, plan get and every dry run", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ images: [offer({ image: "Ubuntu", perHour: "6.46", minimum: "155.04" })] })
      const folder = yield* stateFolder
      const file = join(folder, "fleet.yaml")
      writeFileSync(file, `fleet: f\nnodes: { web: { count: 2, plan: ${plan}, image: Ubuntu } }\n`)
      for (const [args, shown] of [
        [["plan", "list"], /₹ MINIMUM.*\n.*155\.04/],
        [["plan", "list", "--columns", "plan,minimum", "-o", "csv"], /,155\.04/],
        [["plan", "get", plan], /₹ MINIMUM +155\.04/],
        [[...create, "Ubuntu", "--dry-run"], /₹ MINIMUM +155\.04/],
        [[...create, "Ubuntu", "--count", "2", "--dry-run"], /₹ MINIMUM.*\n.*155\.04/],
        [["run", "--plan", plan, "--image", "Ubuntu", "--dry-run", "--", "true"], /₹ MINIMUM +155\.04/],
        [["apply", "-f", file, "--dry-run"], /Minimum charge of new nodes: ₹310\.08\./]
      ] as const) {
        const { code, stderr, stdout } = yield* berth(...args)
        assert.strictEqual(code, 0, stderr)
        assert.match(stdout + stderr, shown, args.join(" "))
      }
    }).pipe(Effect.scoped)
  )

  it.live("of several nodes is their exact sum", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ images: [offer({ image: "Ubuntu", perHour: "0.0049" })] })
      const thousand = [...create, "Ubuntu", "--count", "1000", "--dry-run"]
      const refused = yield* berth(...thousand, "--max-cost", "4.89")
      assert.include(refused.stderr, "The 1000 nodes cost ₹4.90 per hour, more than --max-cost 4.89.")
      assert.strictEqual((yield* berth(...thousand, "--max-cost", "4.9")).code, 0)
    }).pipe(Effect.scoped)
  )

  const cannot: ReadonlyArray<readonly [what: string, offers: ReadonlyArray<unknown>, sentence: string]> = [
    ["that is not stated", [offer({ image: "Ubuntu", perHour: null })], "The price is not known"],
    ["that is no price", [offer({ image: "Ubuntu", perHour: "5k" })], "The price is not known"],
    ["in another currency", [offer({ image: "Ubuntu", perHour: "1.92 USD" })], "The price is not known"],
    ["with a comma for a point", [offer({ image: "Ubuntu", perHour: "12,92" })], "The price is not known"],
    [
      "that is stated twice, differently",
      [ubuntu, offer({ image: "Ubuntu", perHour: "9" })],
      "The node costs ₹6.46 to ₹9.00 per hour, which may be more than --max-cost 7."
    ],
    ["that one of two records lacks", [ubuntu, offer({ image: "Ubuntu", perHour: "" })], "The price is not known"]
  ]
  it.live.each(cannot)("%s is asked about, and is not below a limit", ([, images, sentence]) =>
    Effect.gen(function* () {
      const { berth, made } = yield* account({ images })
      const limited = yield* berth(...create, "Ubuntu", "--max-cost", "7", "--yes")
      assert.deepStrictEqual([limited.code, limited.stderr.includes(sentence)], [2, true], limited.stderr)
      const asked = yield* berth(...create, "Ubuntu")
      assert.deepStrictEqual([asked.code, asked.stderr.includes("Add --yes to create without asking")], [2, true])
      assert.isEmpty(made)
      assert.strictEqual((yield* berth(...create, "Ubuntu", "--yes")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("whose highest is below a limit passes it, with a question", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ images: [ubuntu, offer({ image: "Ubuntu", perHour: "9" })] })
      assert.strictEqual((yield* berth(...create, "Ubuntu", "--max-cost", "9")).code, 2)
      assert.strictEqual((yield* berth(...create, "Ubuntu", "--max-cost", "9", "--yes")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("of an image that is not listed is not known, although the plan is", () =>
    Effect.gen(function* () {
      const { berth, made } = yield* account({ images: [ubuntu] })
      const forced = yield* berth(...create, "Windows", "--force", "--max-cost", "100", "--yes")
      assert.strictEqual(forced.code, 2)
      assert.include(forced.stderr, "The price is not known, so it may be above --max-cost.")
      assert.isEmpty(made)
    }).pipe(Effect.scoped)
  )

  it.live("of a saved image is that of its own record, or of the image that this was made from", () =>
    Effect.gen(function* () {
      const saved = [
        { ...offer({ image: "mine", id: "901", perHour: "30" }), size: plan },
        { ...offer({ image: "Windows", id: "902", perHour: null }), size: plan }
      ]
      const { berth } = yield* account({ saved })
      const priced = (id: string) =>
        Effect.map(
          berth(...create, id, "--saved-image", id, "--dry-run", "-o", "json"),
          (ended) => json<{ pricePerHourInr: number | null }>(ended).pricePerHourInr
        )
      assert.deepStrictEqual([yield* priced("901"), yield* priced("902"), yield* priced("903")], [30, 20.5, null])
    }).pipe(Effect.scoped)
  )

  const saved = (id: string, image: string, perHour: unknown, size = plan) => ({
    ...offer({ image, id, perHour, skus: [[7, 30, "13000"]] }),
    plan: undefined,
    size
  })
  const ofAnother: ReadonlyArray<readonly [what: string, image: string, records: ReadonlyArray<unknown>]> = [
    ["is of another plan", "ubuntu-22", [saved("900", "ubuntu-22", "20.50", "OTHER"), saved("901", "ubuntu-22", "5")]],
    ["has another name than --image", "ubuntu-22", [saved("900", "win-gold", "20.50"), saved("901", "ubuntu-22", "5")]],
    ["has another id than --image", "901", [saved("900", "win-gold", "20.50"), saved("901", "ubuntu-22", "5")]],
    ["is not listed", "ubuntu-22", [saved("901", "ubuntu-22", "5")]],
    ["has a price that cannot be read", "Ubuntu", [saved("900", "Ubuntu", "20.50 USD")]],
    ["has a price in one of two records", "Ubuntu", [saved("900", "Ubuntu", "20.50"), saved("900", "Ubuntu", null)]]
  ]
  it.live.each(ofAnother)("of a saved image whose record %s is not that of another", ([, image, records]) =>
    Effect.gen(function* () {
      const { berth, made } = yield* account({ saved: records })
      const args = [...create, image, "--saved-image", "900"]
      const shown = json<{ pricePerHourInr: number | null }>(yield* berth(...args, "--dry-run", "-o", "json"))
      assert.isNull(shown.pricePerHourInr)
      assert.strictEqual((yield* berth(...args, "--max-cost", "7", "--yes")).code, 2)
      assert.isEmpty(made)
    }).pipe(Effect.scoped)
  )

  it.live("of one of several saved images with one name is that of its template id", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ saved: [saved("900", "Ubuntu", "20.50"), saved("901", "Ubuntu", "5")] })
      for (const [id, perHour] of [
        ["900", 20.5],
        ["901", 5]
      ] as const) {
        const shown = yield* berth(...create, "Ubuntu", "--saved-image", id, "--dry-run", "-o", "json")
        assert.strictEqual(json<{ pricePerHourInr: number | null }>(shown).pricePerHourInr, perHour)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of a committed option of a saved image is that of its own record", () =>
    Effect.gen(function* () {
      const { berth } = yield* account({ saved: [saved("900", "Ubuntu", null)] })
      const committed = [...create, "Ubuntu", "--saved-image", "900", "--committed-sku", "7", "--dry-run", "-o", "json"]
      assert.strictEqual(json<{ committedPriceInr: number }>(yield* berth(...committed)).committedPriceInr, 13_000)
    }).pipe(Effect.scoped)
  )

  it.live("of a committed option is that with the image", () =>
    Effect.gen(function* () {
      const { berth } = yield* account()
      const committed = [...create, "Windows", "--committed-sku", "7"]
      const preview = json<{ committedPriceInr: number; pricePerHourInr: number }>(
        yield* berth(...committed, "--dry-run", "-o", "json")
      )
      assert.deepInclude(preview, { committedPriceInr: 13_000, pricePerHourInr: 18.06 })
      // 13000 / 720 is 18.0555…. Berth compares the limit with the amount rounded up.
      assert.strictEqual((yield* berth(...committed, "--max-cost", "18.05", "--yes")).code, 2)
    }).pipe(Effect.scoped)
  )
})

describe("plans and images", () => {
  const leftOutText = (field: string) =>
    `The list has records that cannot be read (${field}), and they are left out. See them: berth api /images/`
  const ofOthers: ReadonlyArray<readonly [what: string, field: string, record: object]> = [
    ["of another plan", "image", { ...windows, plan: "other", image: null }],
    ["of another image", "plan", { ...windows, plan: null }]
  ]
  it.live.each(ofOthers)(
    "whose record %s cannot be read are left out with one warning, before the others are ordered",
    ([, field, record]) =>
      Effect.gen(function* () {
        const { berth, made } = yield* account({ images: [record, ubuntu] })
        const done = yield* berth(...create, "Ubuntu", "--max-cost", "6.46")
        assert.strictEqual(done.code, 0, done.stderr)
        const [warning, proposal] = done.stderr.split("\n")
        assert.deepStrictEqual([warning, proposal?.startsWith("Creating w")], [leftOutText(field), true])
        assert.strictEqual(done.stderr.split("cannot be read").length, 2)
        assert.lengthOf(made, 1)
        const quiet = yield* berth(...create, "Ubuntu", "--max-cost", "6.46", "-o", "json")
        assert.deepStrictEqual(JSON.parse(quiet.stderr), { warning: { message: leftOutText(field) } })
      }).pipe(Effect.scoped)
  )

  const mayBe: ReadonlyArray<readonly [what: string, record: unknown]> = [
    ["of its plan and any image", { ...windows, image: null }],
    ["of its image and any plan", { ...windows, image: "Ubuntu", plan: { name: plan } }],
    ["of the id of its image and any plan", { ...windows, image: "other", os: { image: "Ubuntu" }, plan: null }],
    ["of any image and plan", { specs: windows.specs }],
    ["no record at all", "junk"]
  ]
  it.live.each(mayBe)("of which one that cannot be read may be the order's are not below a limit: %s", ([, record]) =>
    Effect.gen(function* () {
      const nodes = [{ id: 1, name: "a", plan, image: "Ubuntu" }]
      const { berth, made } = yield* account({ images: [ubuntu, record], nodes })
      const limited = yield* berth(...create, "Ubuntu", "--max-cost", "7", "--yes")
      assert.strictEqual(limited.code, 2, limited.stderr)
      assert.include(
        limited.stderr,
        "The price is not known, so it may be above --max-cost: an unreadable record of the image list"
      )
      const shown = json<Row>(yield* berth(...create, "Ubuntu", "--dry-run", "-o", "json"))
      assert.deepInclude(shown, { pricePerHourInr: null, maxPricePerHourInr: null })
      const asked = yield* berth(...create, "Ubuntu")
      assert.deepStrictEqual([asked.code, asked.stderr.includes("Add --yes to create without asking")], [2, true])
      assert.isEmpty(made)
      const option = yield* berth("commitment", "set", "1", "auto_renew", "--sku", "7", "--dry-run", "-o", "json")
      assert.deepInclude(json<Row>(option), { committedPriceInr: null })
      assert.include((yield* berth("cost")).stderr, "1 node: price not known")
      assert.strictEqual((yield* berth(...create, "Ubuntu", "--yes")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("of which a saved one that cannot be read may be the order's are not below a limit", () =>
    Effect.gen(function* () {
      const own = { ...offer({ image: "mine", id: "901", perHour: "5" }), size: plan }
      const { berth, made } = yield* account({ saved: [own, { ...own, image: null, specs: windows.specs }] })
      const limited = yield* berth(...create, "901", "--saved-image", "901", "--max-cost", "7", "--yes")
      assert.strictEqual(limited.code, 2, limited.stderr)
      assert.include(limited.stderr, "berth api /images/saved-images/")
      assert.isEmpty(made)
    }).pipe(Effect.scoped)
  )

  it.live("show the range where images differ, and which image has which price", () =>
    Effect.gen(function* () {
      const { berth } = yield* account()
      const list = (yield* berth("plan", "list")).stdout
      assert.include(list, "6.46–20.50")
      assert.include(list, "4000.00–13000.00 (7)")
      const card = (yield* berth("plan", "get", plan)).stdout
      assert.include(card, "₹20.50 per hour, ₹14965.00 per month with Windows")
      assert.include(card, "₹13000.00, pays after 26.4 days (SKU 7) with Windows")
      const images = json<ReadonlyArray<{ image: string; minPricePerHourInr: number }>>(
        yield* berth("image", "list", "-o", "json")
      )
      assert.deepStrictEqual(
        images.map(({ image, minPricePerHourInr }) => [image, minPricePerHourInr]),
        [
          ["Ubuntu", 6.46],
          ["Windows", 20.5]
        ]
      )
    }).pipe(Effect.scoped)
  )
})

describe("cost", () => {
  it.live("is a range where a node's image is not known, and exact where it is", () =>
    Effect.gen(function* () {
      const nodes = [
        { id: 1, name: "a", plan, image: "Windows" },
        { id: 2, name: "b", plan }
      ]
      const { berth } = yield* account({ nodes })
      const { stderr, stdout } = yield* berth("cost")
      assert.match(stdout, /a +1 .+ 20\.50 /)
      assert.match(stdout, /b +2 .+ 6\.46–20\.50 /)
      assert.include(
        stderr,
        "2 nodes: ₹26.96 to ₹41.00 per hour, ₹19680.80 to ₹29930.00 per month, by their hourly prices."
      )
    }).pipe(Effect.scoped)
  )

  it.live("of a list that cannot be read to its end is at least that of the nodes that it shows", () =>
    Effect.gen(function* () {
      // This service returns the first page for every page number.
      const url = yield* serve(({ path }) => ok(path === "/nodes/" ? [nodeRecord({ id: 1, plan })] : [ubuntu]))
      const state = yield* stateFolder
      const { stderr } = yield* invoke(["cost"], { env: envOf(url, state) })
      assert.include(stderr, "1 node: at least ₹6.46 per hour")
      assert.include(stderr, "there may be more nodes")
    }).pipe(Effect.scoped)
  )

  it.live("is at least that of the nodes with a known price", () =>
    Effect.gen(function* () {
      const nodes = [
        { id: 1, name: "a", plan },
        { id: 2, name: "b", plan: "gone" }
      ]
      const { berth } = yield* account({ images: [ubuntu], nodes })
      const { stderr } = yield* berth("cost")
      assert.include(stderr, "2 nodes: at least ₹6.46 per hour, at least ₹4715.80 per month, by their hourly prices.")
      assert.include(stderr, "1 node without an exact price")
    }).pipe(Effect.scoped)
  )

  const broken: ReadonlyArray<readonly [what: string, record: { readonly id: number } & Row, row: Row]> = [
    ["has no name", { id: 4, name: null, plan }, { id: 4, name: "not known" }],
    ["has the id of another node", { id: 3, name: "d", plan }, { id: 3, name: "d" }],
    ["is of one node on another plan", { id: 3, name: "c", plan: "other" }, { id: 3, name: "c" }]
  ]
  it.live.each(broken)("of a node whose record %s is at least that of the others, in every format", ([, record, row]) =>
    Effect.gen(function* () {
      const nodes = [{ id: 1, name: "a", plan }, { id: 3, name: "c", plan }, record]
      const { berth } = yield* account({ images: [ubuntu], nodes })
      // If two records have the same id, nobody knows which one is right, so the price is unknown.
      const known = record.id === 3 ? "6.46" : "12.92"
      const { stderr } = yield* berth("cost")
      assert.include(stderr, `3 nodes: at least ₹${known} per hour`)
      assert.include(stderr, "1 node whose record cannot be read, not included in the sum.")
      const rows = json<ReadonlyArray<Row>>(yield* berth("cost", "-o", "json"))
      assert.lengthOf(rows, 3)
      assert.deepInclude(
        rows.find(({ unreadable }) => unreadable === 1)!,
        {
          ...row,
          nodes: 1,
          pricePerHourInr: null,
          minPricePerHourInr: null,
          withoutPrice: 1
        }
      )
      const [byPlan, notKnown] = json<ReadonlyArray<Row>>(yield* berth("cost", "--by", "plan", "-o", "json"))
      assert.deepInclude(byPlan, { name: plan, nodes: 2, unreadable: 0 })
      assert.deepInclude(notKnown, { name: "not known", nodes: 1, pricePerHourInr: null, unreadable: 1 })
      const csv = yield* berth("cost", "--quiet", "-o", "csv", "--columns", "unreadable")
      assert.deepStrictEqual(csv.stdout.trim().split(/\s+/).slice(1).toSorted(), ["0", "0", "1"])
    }).pipe(Effect.scoped)
  )
})

describe("a commitment that berth sets", () => {
  const set = ["commitment", "set", "7", "auto_renew", "--sku"]
  const buy = [...set, "7", "-y", "--max-commitment", "13000"]
  for (const [what, node] of [
    ["a plan that is not listed", { id: 7, name: "w", plan: "gone" }],
    ["a plan that is not known", { id: 7, name: "w", plan: undefined }]
  ] as const) {
    it.live(`to an option of ${what} is refused`, () =>
      Effect.gen(function* () {
        const { berth, committed } = yield* account({ nodes: [node] })
        const refused = yield* berth(...set, "77", "-y")
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, "the price of committed option 77 is not known.")
        assert.include(refused.stderr, "--force")
        const shown = yield* berth(...set, "77", "--force", "--dry-run", "-o", "json")
        assert.include(json<Row>(shown)["outcome"], "committed option 77, at a price that is not known; ")
        // No limit can allow an unknown price.
        for (const bound of [[], ["--max-commitment", "99999"]]) {
          const forced = yield* berth(...set, "77", "--force", "-y", ...bound)
          assert.strictEqual(forced.code, 2, forced.stderr)
          assert.include(forced.stderr, "The price of a commitment is not known, so it may be above --max-commitment")
        }
        assert.isEmpty(committed)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is sent only once if the reply is lost, and its outcome is then unknown", () =>
    Effect.gen(function* () {
      const { berth, committed } = yield* account({
        nodes: [{ id: 7, name: "w", plan, image: "Windows" }],
        commitmentReply: () => lost
      })
      const { code, stderr } = yield* berth(...buy)
      assert.strictEqual(code, 8, stderr)
      assert.match(stderr, /The commitment of \S+ \(7\) may be set: /)
      assert.include(stderr, "Look in the account portal before you run it again")
      assert.lengthOf(committed, 1)
    }).pipe(Effect.scoped)
  )

  for (const [what, reply] of [
    ["is lost", lost],
    ["has several outcomes", { ...ok({}), status: 207 }],
    ["is a failure of the service", { status: 503, body: "" }]
  ] as const) {
    it.live(`is not bought again, if its reply ${what}, before a person says what the portal shows`, () =>
      Effect.gen(function* () {
        const nodes = [{ id: 7, name: "w", plan, image: "Windows" }]
        const { berth, committed } = yield* account({
          nodes,
          commitmentReply: (before) => (before === 0 ? reply : ok({}))
        })
        assert.strictEqual((yield* berth(...buy)).code, 8)
        for (const again of [
          buy,
          [...buy, "--dry-run"],
          ["commitment", "set", "w", "auto_renew", "--sku", "7", "--force", "-y", "--max-commitment", "13000"]
        ]) {
          const { code, stderr } = yield* berth(...again)
          assert.strictEqual(code, 8, stderr)
          assert.match(
            stderr,
            /auto_renew with the committed option 7 was sent at \S+Z, and no reply came\. Nothing was sent now\./
          )
          assert.include(stderr, "berth commitment set 7 auto_renew --sku 7 --found set; otherwise")
        }
        assert.lengthOf(committed, 1)
        // A setting that buys nothing is allowed, and shows nothing about the purchase.
        assert.strictEqual((yield* berth("commitment", "set", "7", "auto_terminate", "-y")).code, 0)
        assert.strictEqual((yield* berth(...buy)).code, 8)
        assert.lengthOf(committed, 2)
        const resent = yield* berth(...buy, "--found", "not-set")
        assert.strictEqual(resent.code, 0, resent.stderr)
        // Now berth knows that the period was bought.
        assert.strictEqual((yield* berth(...buy)).code, 5)
        assert.lengthOf(committed, 3)
      }).pipe(Effect.scoped)
    )
  }

  it.live("whose reply was lost is kept as set, once a person has seen it, and nothing is sent for that", () =>
    Effect.gen(function* () {
      const nodes = [{ id: 7, name: "w", plan, image: "Windows" }]
      const { berth, committed } = yield* account({ nodes, commitmentReply: () => lost })
      const none = yield* berth(...set, "7", "--found", "set")
      assert.deepStrictEqual([none.code, none.stderr.includes("is without a reply")], [2, true])
      yield* berth(...buy)
      assert.strictEqual((yield* berth(...set, "8", "--found", "set")).code, 2)
      const kept = yield* berth(...set, "7", "--found", "set", "-o", "json")
      assert.strictEqual(kept.code, 0, kept.stderr)
      const own = json<Row>(yield* berth("commitment", "get", "7", "-o", "json"))
      assert.deepInclude(own, { setting: "auto_renew", skuId: 7, days: 30, committedPriceInr: 13_000 })
      assert.lengthOf(committed, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not bought if that cannot be noted", () =>
    Effect.gen(function* () {
      const nodes = [{ id: 7, name: "w", plan, image: "Windows" }]
      const { berth, committed, state } = yield* account({ nodes })
      assert.strictEqual((yield* berth(...buy)).code, 0)
      const [log] = globSync(join(state, "**/records/commitment/7.json"))
      writeFileSync(log!, "{")
      const refused = yield* berth(...buy)
      assert.strictEqual(refused.code, 10, refused.stderr)
      assert.include(refused.stderr, log!)
      // With a state folder that does not know the purchase, the user could buy the period again.
      assert.include(refused.stderr, "Remove it only if the account portal shows no node or purchase")
      assert.notInclude(refused.stderr, "XDG_STATE_HOME")
      assert.lengthOf(committed, 1)
      assert.strictEqual((yield* berth("commitment", "set", "7", "hourly_billing", "-y")).code, 0)
    }).pipe(Effect.scoped)
  )

  it.live("by force shows the price where it is listed, and is bounded by it", () =>
    Effect.gen(function* () {
      const nodes = [{ id: 7, name: "w", plan, image: "Windows" }]
      const listed = yield* (yield* account({ nodes })).berth(...set, "7", "--force", "--dry-run", "-o", "json")
      assert.strictEqual(json<{ committedPriceInr: number }>(listed).committedPriceInr, 13_000)
      const { berth, committed } = yield* account({ nodes })
      assert.strictEqual((yield* berth(...buy, "--force")).code, 0)
      assert.lengthOf(committed, 1)
      const unlisted = yield* account({ nodes, images: [null] })
      assert.strictEqual((yield* unlisted.berth(...buy, "--force")).code, 2)
      assert.isEmpty(unlisted.committed)
    }).pipe(Effect.scoped)
  )

  it.live("is read back from its own record, and cost counts it, saying whose record it is", () =>
    Effect.gen(function* () {
      const { berth } = yield* account()
      const unknown = yield* berth("commitment", "get", "7", "-o", "json")
      assert.deepInclude(json<object>(unknown), { id: 7, setAt: null, setting: null, until: null })
      const committed = [...create, "Windows", "--committed-sku", "7", "--yes", "--max-commitment", "13000"]
      assert.strictEqual((yield* berth(...committed)).code, 0)
      yield* berth("commitment", "set", "7", "auto_terminate", "--yes")
      const own = json<Readonly<Record<string, unknown>>>(yield* berth("commitment", "get", "7", "-o", "json"))
      assert.deepInclude(own, { setting: "auto_terminate", skuId: 7, days: 30, committedPriceInr: 13_000 })
      assert.isString(own["until"])
      assert.include(
        (yield* berth("commitment", "get", "7")).stderr,
        "This is what Berth last set, as far as it knows."
      )
    }).pipe(Effect.scoped)
  )
})

describe("what --yes may buy", () => {
  const nodes = [{ id: 7, name: "w", plan, image: "Windows" }]
  for (const [what, args, priceInr] of [
    ["a create", [...create, "Windows", "--committed-sku", "7"], 13_000],
    // This service makes only one node, so three nodes are only shown with --dry-run.
    ["several creates, together", [...create, "Windows", "--committed-sku", "7", "--count", "3"], 39_000],
    ["commitment set", ["commitment", "set", "7", "auto_renew", "--sku", "7"], 13_000]
  ] as const) {
    it.live(`with ${what} is bounded by --max-commitment, which is 0 unless it is given`, () =>
      Effect.gen(function* () {
        const { berth, committed, made } = yield* account(args[0] === "commitment" ? { nodes } : {})
        for (const [bound, shown] of [
          [[], "0.00"],
          [["--max-commitment", "12999.99"], "12999.99"]
        ] as const) {
          const refused = yield* berth(...args, "--yes", ...bound)
          assert.strictEqual(refused.code, 2, refused.stderr)
          assert.include(
            refused.stderr,
            `This would buy commitments for ₹${priceInr.toFixed(2)}, and --max-commitment is ${shown}: nothing was changed.`
          )
          assert.include(refused.stderr, `add --max-commitment ${priceInr}`)
        }
        // The limit also applies if the command only shows what it would do.
        assert.strictEqual((yield* berth(...args, "--dry-run", "--max-commitment", "1")).code, 2)
        assert.strictEqual((yield* berth(...args, "--dry-run", "--yes")).code, 0)
        assert.isEmpty([...made, ...committed])
        const bound = ["--yes", "--max-commitment", String(priceInr)]
        assert.strictEqual((yield* berth(...args, ...bound, "--dry-run")).code, 0)
        if (args.some((arg) => arg === "--count")) return
        const done = yield* berth(...args, ...bound)
        assert.strictEqual(done.code, 0, done.stderr)
        assert.lengthOf([...made, ...committed], 1)
      }).pipe(Effect.scoped)
    )
  }

  it.live("does not include a renewal at a price that is not known", () =>
    Effect.gen(function* () {
      const { berth, committed } = yield* account({ nodes })
      const renew = ["commitment", "set", "7", "auto_renew"]
      const shown = json<Row>(yield* berth(...renew, "--dry-run", "-o", "json"))
      assert.include(shown["outcome"], "renewed, at a price that is not known")
      const refused = yield* berth(...renew, "--yes")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "Name the committed option with --sku")
      assert.isEmpty(committed)
      assert.strictEqual((yield* berth("commitment", "set", "7", "auto_terminate", "--yes")).code, 0)
    }).pipe(Effect.scoped)
  )
})
