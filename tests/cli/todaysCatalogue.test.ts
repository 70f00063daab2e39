/** Orders against a catalogue like that of today's service: plans by SKU, each with a separate slug for every system and place. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hurried, invoke } from "./invoke.ts"
import { startAgent } from "./mcp/Agent.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

interface Listed {
  readonly sku?: string
  readonly slug: string
  readonly image?: string
  readonly location?: string
  readonly perHour?: number
  readonly disk?: number
  readonly currency?: string
}

const record = ({
  currency = "INR",
  disk = 100,
  image = "Ubuntu-24.04-Distro",
  location,
  perHour = 2.9,
  sku = "C3.8GB",
  slug
}: Listed) => ({
  name: sku,
  plan: slug,
  image,
  os: { name: "Ubuntu", version: "24.04", image, category: "Ubuntu" },
  ...(location !== undefined && { location }),
  specs: {
    id: "2099",
    sku_name: sku,
    ram: "8.00",
    cpu: 4,
    disk_space: disk,
    price_per_hour: perHour,
    price_per_month: 2117,
    series: "C3",
    minimum_billing_amount: 0,
    committed_sku: []
  },
  available_inventory_status: true,
  currency
})

/** A service with this catalogue, commands that order from it, and the creates that were sent. */
const catalogueOf = Effect.fnUntraced(function* (listed: ReadonlyArray<Listed>) {
  const creates: Array<Request> = []
  const sku = listed[0]?.sku ?? "C3.8GB"
  const url = yield* serve((request) => {
    const { method, path } = request
    if (method === "POST") creates.push(request)
    if (path === "/images/") return ok(listed.map(record))
    if (method === "GET" && path === "/nodes/") return ok([])
    if (path.startsWith("/images/")) return ok([])
    return ok(nodeRecord({ id: 7, name: "web", plan: sku, status: "Running" }))
  })
  const state = yield* stateFolder
  const env = {
    BERTH_API_KEY: "key-of-a-test",
    BERTH_ACCESS_TOKEN: "token-of-a-test",
    BERTH_BASE_URL: url,
    BERTH_PROJECT: "7",
    BERTH_LOCATION: "Delhi",
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: state
  }
  const berth = (...args: ReadonlyArray<string>) => hurried(invoke(args, { env }))
  const apply = (group: string, ...flags: ReadonlyArray<string>) => {
    const file = join(state, "fleet.yaml")
    writeFileSync(file, `fleet: shop\nnodes:\n  web: { ${group} }\n`)
    return berth("apply", "-f", file, ...(flags.includes("--dry-run") ? flags : ["--yes", ...flags]))
  }
  const proposed = Effect.fnUntraced(function* (order: object, ...flags: ReadonlyArray<string>) {
    const agent = yield* startAgent(["--allow", "create", ...flags], { env })
    return yield* Effect.promise(() => agent.call("propose", { action: "create", name: "web", ...order }))
  })
  return { apply, berth, creates, proposed }
})

const sent = (creates: ReadonlyArray<Request>) => creates.map(({ body }) => (body as { readonly plan: string }).plan)

describe("a SKU with an image that the catalogue does not list", () => {
  const unlisted = [
    { flags: ["--image", "25001"], yaml: "image: 25001" },
    { flags: ["--image", "25001", "--saved-image", "27001"], yaml: "image: 25001, savedImage: 27001" },
    { flags: ["--image", "web-base", "--saved-image", "27001"], yaml: "image: web-base, savedImage: 27001" }
  ] as const

  for (const { flags, yaml } of unlisted) {
    it.live(`is ordered by its one slug, with ${flags.join(" ")}`, () =>
      Effect.gen(function* () {
        const { berth, creates } = yield* catalogueOf([{ slug: "the-slug" }, { sku: "C3.4GB", slug: "other" }])
        const create = ["node", "create", "web", "--plan", "C3.8GB", ...flags, "--yes"]
        for (const more of [[], ["--if-absent"]]) {
          const made = yield* berth(...create, ...more)
          assert.strictEqual(made.code, 0, made.stderr)
        }
        assert.deepStrictEqual(sent(creates), ["the-slug", "the-slug"])
      }).pipe(Effect.scoped)
    )

    it.live(`is refused before anything is sent if it has several slugs, with ${flags.join(" ")}`, () =>
      Effect.gen(function* () {
        const { apply, berth, creates } = yield* catalogueOf([
          { slug: "one" },
          { slug: "two", image: "Debian-12-Distro" }
        ])
        const order = ["--plan", "C3.8GB", ...flags, "--yes"]
        for (const command of [
          ["node", "create", "web", ...order],
          ["node", "create", "web", ...order, "--if-absent"],
          ["run", ...order, "--", "true"]
        ]) {
          const refused = yield* berth(...command)
          assert.strictEqual(refused.code, 2, refused.stderr)
          assert.match(
            refused.stderr,
            /The SKU C3\.8GB is that of several plans with the (?:saved )?image \d+: one, two\./
          )
          assert.include(refused.stderr, "hint: Name one of them: --plan one")
        }
        const refused = yield* apply(`plan: C3.8GB, ${yaml}`)
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, "nodes.web.plan: C3.8GB is a SKU and not a plan; its plans are one, two.")
        assert.lengthOf(creates, 0)
      }).pipe(Effect.scoped)
    )
  }

  it.live("is refused to an agent, which cannot name a saved image", () =>
    Effect.gen(function* () {
      const { creates, proposed } = yield* catalogueOf([{ slug: "one" }, { slug: "two", image: "Debian-12-Distro" }])
      const proposal = yield* proposed({ plan: "C3.8GB", image: "25001" })
      assert.isTrue(proposal.isError, JSON.stringify(proposal))
      assert.lengthOf(creates, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a catalogue of several locations", () => {
  const order = ["--plan", "C3.8GB", "--image", "Ubuntu-24.04-Distro", "--yes"]
  const chennai = { slug: "slug-of-chennai", location: "Chennai", perHour: 1 }

  for (const location of ["Delhi", " delhi ", undefined, ""])
    it.live(`is read for the client's location alone, where that is ${JSON.stringify(location)}`, () =>
      Effect.gen(function* () {
        const own = { slug: "own-slug", ...(location !== undefined && { location }) }
        const { apply, berth, creates } = yield* catalogueOf([chennai, own])
        const made = yield* berth("node", "create", "web", ...order, "--max-cost", "2.9")
        assert.strictEqual(made.code, 0, made.stderr)
        assert.include(made.stderr, "₹2.90 per hour")
        assert.deepStrictEqual(sent(creates), ["own-slug"])
        const plans = yield* berth("plan", "list", "-o", "json")
        assert.notInclude(plans.stdout, "slug-of-chennai")
        assert.include(plans.stdout, '"pricePerHourInr": 2.9')
        const foreign = ["--plan", "slug-of-chennai", "--image", "Ubuntu-24.04-Distro", "--yes"]
        for (const refused of [
          yield* berth("node", "create", "web", ...foreign),
          yield* berth("run", ...foreign, "--", "true"),
          yield* apply("plan: slug-of-chennai, image: Ubuntu-24.04-Distro")
        ]) {
          assert.strictEqual(refused.code, 2, refused.stderr)
          assert.include(refused.stderr, "There is no plan slug-of-chennai")
        }
        assert.lengthOf(creates, 1)
      }).pipe(Effect.scoped)
    )

  it.live("is not believed if all of it is elsewhere", () =>
    Effect.gen(function* () {
      const { berth, creates } = yield* catalogueOf([chennai])
      const refused = yield* berth("node", "create", "web", ...order)
      assert.strictEqual(refused.code, 7, refused.stderr)
      assert.include(refused.stderr, "expected records of the location Delhi at data[0].location, got Chennai")
      assert.lengthOf(creates, 0)
    }).pipe(Effect.scoped)
  )
})

describe("a plan without a disk of its own", () => {
  const image = "Ubuntu-24.04-Distro"
  const e1 = { sku: "E1LC.6GB", slug: "e1-slug", disk: 0, perHour: 2.1 }
  const order = ["--plan", "E1LC.6GB", "--image", image]
  const note = "the price of the disk is not listed"

  it.live("is refused without --disk, before anything is sent", () =>
    Effect.gen(function* () {
      const { apply, berth, creates, proposed } = yield* catalogueOf([e1])
      for (const refused of [
        yield* berth("node", "create", "web", ...order, "--yes"),
        yield* berth("node", "create", "web", ...order, "--yes", "--if-absent"),
        yield* berth("node", "create", "web", ...order, "--saved-image", "7", "--yes"),
        yield* berth("run", ...order, "--yes", "--", "true"),
        yield* apply(`plan: e1-slug, image: ${image}`),
        yield* apply(`plan: e1-slug, image: ${image}, savedImage: 7`)
      ]) {
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, "The plan e1-slug has no disk of its own, and the order names none.")
        assert.include(refused.stderr, "--disk")
      }
      const { content, isError } = yield* proposed({ plan: "E1LC.6GB", image })
      assert.isTrue(isError)
      assert.include(JSON.stringify(content), "Name the size of the disk in GB: disk")
      assert.lengthOf(creates, 0)
    }).pipe(Effect.scoped)
  )

  it.live("costs at least its price, and no limit allows the rest", () =>
    Effect.gen(function* () {
      const { apply, berth, creates, proposed } = yield* catalogueOf([e1])
      const disk = ["--disk", "100000"]
      const fleet = `plan: e1-slug, image: ${image}, disk: 100000`
      for (const refused of [
        yield* berth("node", "create", "web", ...order, ...disk, "--max-cost", "3", "--yes"),
        yield* berth("run", ...order, ...disk, "--max-cost", "3", "--yes", "--", "true"),
        yield* apply(fleet, "--max-cost", "3")
      ]) {
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, note)
      }
      const named = { plan: "E1LC.6GB", image, disk: 100_000 }
      assert.isTrue((yield* proposed(named, "--max-cost", "3")).isError)
      const proposal = yield* proposed(named)
      assert.isNotTrue(proposal.isError)
      assert.include(JSON.stringify(proposal), note)
      assert.lengthOf(creates, 0)
      const shown = yield* apply(fleet, "--dry-run")
      assert.match(shown.stderr, /at least ₹2\.10 per hour.*web: the price of the disk is not listed\./)
      const made = yield* berth("node", "create", "web", ...order, ...disk, "--yes")
      assert.strictEqual(made.code, 0, made.stderr)
      assert.match(made.stderr, /at least ₹2\.10 per hour.*the price of the disk is not listed/)
      const plans = yield* berth("plan", "list", "-o", "json")
      assert.include(plans.stdout, '"pricePerHourInr": 2.1')
    }).pipe(Effect.scoped)
  )

  it.live("says so of a price in dollars, too", () =>
    Effect.gen(function* () {
      const { berth } = yield* catalogueOf([{ ...e1, currency: "USD" }])
      const made = yield* berth("node", "create", "web", ...order, "--disk", "20", "--yes")
      assert.strictEqual(made.code, 0, made.stderr)
      assert.match(made.stderr, /\$2\.10 per hour.*the price of the disk is not listed/)
    }).pipe(Effect.scoped)
  )
})

describe("a SKU in another case", () => {
  it.live("is named as it is spelled", () =>
    Effect.gen(function* () {
      const { berth, creates } = yield* catalogueOf([{ slug: "the-slug" }, { sku: "C3.4GB", slug: "other" }])
      const refused = yield* berth(
        "node",
        "create",
        "web",
        "--plan",
        "c3.8gb",
        "--image",
        "Ubuntu-24.04-Distro",
        "--yes"
      )
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "There is no plan c3.8gb; did you mean C3.8GB?")
      assert.lengthOf(creates, 0)
    }).pipe(Effect.scoped)
  )
})
