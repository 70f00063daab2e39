/**
 * Every change is proposed before it is sent. Berth refuses a change that cannot work, and asks before a change that costs money or deletes
 * something.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect, shownPlan } from "../account.ts"
import { json, lines, settings } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const plan = "C-2VCPU-8RAM-50DISK"
const image = "Ubuntu-22.04"
const order = ["--plan", plan, "--image", image]
const create = (...args: ReadonlyArray<string>) => berth(["node", "create", ...args])

interface Shown {
  readonly id: number
  readonly name: string
  readonly outcome: string
}

interface Preview {
  readonly request: { readonly method: string; readonly path: string; readonly body: unknown }
  readonly pricePerHourInr: number | null
  readonly committedPriceInr: number | null
  readonly outcome: string
}

interface Flag {
  readonly name: string
}

/** The changes that the service received. */
const changes = Effect.flatMap(TestServer, ({ journal }) =>
  Effect.map(journal, (entries) =>
    entries
      .filter(({ method }) => method !== "GET")
      .map(({ body, method, path }) => ({ method, path, body: body === null || body === "" ? "null" : body }))
  )
)

const names = Effect.map(berth(["node", "list", "-o", "json"]), (ended) =>
  json<ReadonlyArray<Shown>>(ended).map(({ name }) => name)
)

/** The committed options of a plan. */
const skuOf = (slug: string) =>
  Effect.map(berth(["plan", "list", "-o", "json"]), (ended) => {
    const plans =
      json<ReadonlyArray<{ plan: string; committedOptions: ReadonlyArray<{ skuId: number; priceInr: number }> }>>(ended)
    return plans.find((each) => each.plan === shownPlan(slug))!.committedOptions[0]!
  })

describe("--dry-run", () => {
  it.live("shows the very request that is sent without it, byte for byte", () =>
    Effect.gen(function* () {
      const { skuId } = yield* skuOf(plan)
      const commands = [
        ["node", "create", "a b", ...order, "--tag", "t", "--backups", "--ssh-key", "k", "--no-public-ip"],
        ["node", "create", "web", ...order, "--count", "2", "--committed-sku", String(skuId)],
        ["commitment", "set", "a b", "auto_renew", "--sku", String(skuId)],
        ["commitment", "set", "web-1", "auto_terminate"],
        ["node", "delete", "a b", "web-*"]
      ]
      for (const args of commands) {
        const before = (yield* changes).length
        const dry = yield* berth([...args, "--dry-run", "-o", "json"])
        assert.strictEqual(dry.code, 0, dry.stderr)
        assert.lengthOf(yield* changes, before)
        const shown = [JSON.parse(dry.stdout) as Preview | ReadonlyArray<Preview>].flat()
        const bound = args.some((arg) => arg.endsWith("sku")) ? ["--max-commitment", "100000"] : []
        const done = yield* berth([...args, "--yes", ...bound])
        assert.strictEqual(done.code, 0, done.stderr)
        const sent = (yield* changes).slice(before)
        const byText = (requests: ReadonlyArray<unknown>) => requests.map((each) => JSON.stringify(each)).toSorted()
        assert.deepStrictEqual(
          byText(sent),
          byText(shown.map(({ request: { body, method, path } }) => ({ method, path, body: JSON.stringify(body) })))
        )
      }
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("--dry-run of a create with every flag", () => {
  it.live("shows the very request that is sent without it, byte for byte", () =>
    Effect.gen(function* () {
      const script = join(yield* stateFolder, "start.sh")
      yield* Effect.promise(() => writeFile(script, "#!/bin/sh\necho 'grüße \u2028 \"you\"'\n"))
      const { skuId } = yield* skuOf(plan)
      const [saved] = json<ReadonlyArray<{ image: string; plan: string; templateId?: number }>>(
        yield* berth(["image", "saved", "-o", "json"])
      )
      const all: Readonly<Record<string, ReadonlyArray<string>>> = {
        plan: [plan],
        image: [image],
        name: ["every flag"],
        "committed-sku": [String(skuId)],
        commitment: ["hourly_billing"],
        tag: ["a", "b c"],
        disk: ["150"],
        label: ["größe"],
        extra: ['zone="a"'],
        backups: [],
        "start-script": [script, script],
        "ssh-key": ["aa:bb", "12"],
        "disable-password": [],
        "security-group": ["7"],
        vpc: ["v-1"],
        "no-public-ip": [],
        ipv6: []
      }
      const { flagGroups } = json<{ flagGroups: ReadonlyArray<{ title: string; flags: ReadonlyArray<Flag> }> }>(
        yield* create("--help", "-o", "json")
      )
      const flags = flagGroups.flatMap(({ flags, title }) => (/^(?:NODE|ACCESS) FLAGS$/.test(title) ? flags : []))
      assert.sameMembers(
        flags.map(({ name }) => name).filter((name) => name !== "saved-image"),
        Object.keys(all)
      )
      const words = Object.entries(all).flatMap(([name, values]) =>
        values.length === 0 ? [`--${name}`] : values.flatMap((value) => [`--${name}`, value])
      )
      const ofSaved = ["--plan", saved!.plan, "--image", saved!.image, "--saved-image", "3", "--name", "saved"]
      for (const args of [words, ofSaved, [...words, "--count", "3", "--key", "k"]]) {
        const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
        const before = (yield* changes).length
        const run = (...more: ReadonlyArray<string>) => invoke(["node", "create", ...args, ...more], { env })
        const dry = yield* run("--dry-run", "-o", "json")
        assert.strictEqual(dry.code, 0, dry.stderr)
        assert.lengthOf(yield* changes, before)
        yield* run("--yes", "--max-commitment", "100000")
        const shown = [JSON.parse(dry.stdout) as Preview | ReadonlyArray<Preview>].flat()
        assert.sameMembers(
          (yield* changes).slice(before).map(({ body, method, path }) => `${method} ${path} ${body}`),
          shown.map(({ request: { body, method, path } }) => `${method} ${path} ${JSON.stringify(body)}`)
        )
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )
})

describe("a create that cannot work", () => {
  it.live("is refused before it is sent, with the nearest spelling, unless it is forced", () =>
    Effect.gen(function* () {
      const other = "A-1VCPU-2RAM-20DISK"
      for (const [args, sentence] of [
        [["--plan", `${plan}S`, "--image", image], `There is no plan ${plan}S; did you mean ${plan}?`],
        [["--plan", plan, "--image", "Ubuntu-22.4"], "There is no image Ubuntu-22.4; did you mean Ubuntu-22.04?"],
        [["--plan", plan, "--image", "1"], "There is no image with the id 1."],
        [
          [...order, "--committed-sku", "1"],
          `The plan ${plan} with the image ${image} has no committed option 1; it has `
        ]
      ] as const) {
        for (const more of [[], ["--dry-run"], ["--yes"]]) {
          const { code, stderr, stdout } = yield* create("web", ...args, ...more)
          assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" })
          assert.include(stderr, `error: ${sentence}`)
          assert.lengthOf(lines(stderr), 2)
        }
      }
      assert.isEmpty(yield* changes)
      const forced = yield* create("web", "--plan", `${other}S`, "--image", image, "--force", "--yes")
      assert.deepStrictEqual([forced.code, forced.stdout], [5, ""])
      assert.lengthOf(yield* changes, 1)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("names what the plan offers instead of the image", () =>
    Effect.gen(function* () {
      const plans = json<ReadonlyArray<{ plan: string; images: ReadonlyArray<string> }>>(
        yield* berth(["plan", "list", "-o", "json"])
      )
      const all = new Set(plans.flatMap(({ images }) => images))
      const some = plans.find(({ images }) => images.length < all.size)!
      const missing = Array.from(all).find((each) => !some.images.includes(each))!
      const { code, stderr } = yield* create("web", "--plan", some.plan, "--image", missing)
      assert.strictEqual(code, 2)
      assert.include(stderr, `The plan ${some.plan} does not offer the image ${missing}; it offers ${some.images[0]}`)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("without a terminal", () => {
  it.live("what destroys, commits or makes several needs --yes, and sends nothing without it", () =>
    Effect.gen(function* () {
      const { skuId } = yield* skuOf(plan)
      yield* create("web", ...order)
      const before = yield* changes
      for (const args of [
        ["node", "delete", "web"],
        ["commitment", "set", "web", "auto_terminate"],
        ["node", "create", "more", ...order, "--count", "2"],
        ["node", "create", "more", ...order, "--committed-sku", String(skuId)],
        ["node", "create", "more", "--plan", "unlisted", "--image", image, "--force"]
      ]) {
        const { code, stderr, stdout } = yield* berth(args)
        assert.deepStrictEqual({ code, stdout }, { code: 2, stdout: "" }, args.join(" "))
        assert.include(stderr, "hint: Add --yes")
        assert.lengthOf(lines(stderr), 2)
      }
      assert.deepStrictEqual(yield* changes, before)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("the price", () => {
  it.live("of a commitment is shown with its end, and spread over its hours", () =>
    Effect.gen(function* () {
      const { priceInr, skuId } = yield* skuOf(plan)
      const preview = json<Preview>(
        yield* create("web", ...order, "--committed-sku", String(skuId), "--dry-run", "-o", "json")
      )
      assert.strictEqual(preview.committedPriceInr, priceInr)
      assert.match(preview.outcome, /^committed for \d+ days, until \d\d-\w+-\d{4} .+; after that billed by the hour/)
      assert.isBelow(preview.pricePerHourInr!, priceInr)
      yield* create("web", ...order)
      const { stderr } = yield* berth([
        "commitment",
        "set",
        "web",
        "auto_renew",
        "--sku",
        String(skuId),
        "--yes",
        "--max-commitment",
        "100000"
      ])
      assert.include(stderr, `at ₹${priceInr.toFixed(2)}; at its end the commitment is renewed.`)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("above --max-cost, of all nodes together, is refused", () =>
    Effect.gen(function* () {
      const { pricePerHourInr } = json<Preview>(yield* create("web", ...order, "--dry-run", "-o", "json"))
      const cost = pricePerHourInr!
      const two = ["--count", "2", "--yes"]
      const refused = yield* create("web", ...order, ...two, "--max-cost", String(cost))
      assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
      assert.include(
        refused.stderr,
        `The 2 nodes cost ₹${(2 * cost).toFixed(2)} per hour, more than --max-cost ${cost}.`
      )
      const unknown = yield* create("web", "--plan", "x", "--image", "y", "--force", "--yes", "--max-cost", "1000")
      assert.strictEqual(unknown.code, 2)
      assert.isEmpty(yield* changes)
      assert.strictEqual((yield* create("web", ...order, ...two, "--max-cost", String(2 * cost))).code, 0)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("--count", () => {
  it.live("makes no node under a key of another create", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const run = (...args: ReadonlyArray<string>) => invoke(["node", "create", ...args, ...order, "--yes"], { env })
      assert.strictEqual((yield* run("own", "--key", "k-2")).code, 0)
      const before = yield* changes
      const refused = yield* run("web", "--key", "k", "--count", "2")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "The key k-2, which --count makes of k, belongs to another create, of own on")
      assert.deepStrictEqual(yield* changes, before)
      for (let again = 0; again < 2; again++) {
        assert.strictEqual((yield* run("web", "--key", "other", "--count", "2")).code, 0)
      }
      assert.lengthOf(yield* changes, before.length + 2)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("makes NAME-1 to NAME-N, and with --if-absent completes the missing ones", () =>
    Effect.gen(function* () {
      yield* create("w-2", ...order)
      const made = yield* create("w", ...order, "--count", "3", "--if-absent", "--yes", "-o", "json")
      const more = yield* create("v", ...order, "--count", "3", "--yes")
      const { pricePerHourInr } = json<Preview>(yield* create("v-1", ...order, "--dry-run", "-o", "json"))
      assert.include(
        more.stderr,
        `Creating 3 nodes on ${plan} from ${image}, together: ₹${(3 * pricePerHourInr!).toFixed(2)} per hour, `
      )
      assert.deepStrictEqual(
        json<ReadonlyArray<Shown>>(made).map(({ name, outcome }) => [name, outcome]),
        [
          ["w-1", "created"],
          ["w-2", "existing"],
          ["w-3", "created"]
        ]
      )
      assert.sameMembers(yield* names, ["w-1", "w-2", "w-3", "v-1", "v-2", "v-3"])
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("exits 9 when some of the nodes could not be created, with an error for each", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* arm([{ fault: "status", status: 422, times: 1, scope: { operation: "nodes.create" } }])
      const { code, stderr, stdout } = yield* create("w", ...order, "--count", "3", "--yes", "-o", "json")
      assert.strictEqual(code, 9)
      assert.lengthOf(JSON.parse(stdout), 2)
      assert.include(stderr, "1 of 3 failed.")
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("--if-absent", () => {
  it.live("gives the node that exists, and creates it once however often it is asked", () =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach([1, 2, 3], () => create("job", ...order, "--if-absent", "-o", "json"))
      assert.deepStrictEqual(
        made.map((ended) => [ended.code, json<Shown>(ended).outcome]),
        [
          [0, "created"],
          [0, "existing"],
          [0, "existing"]
        ]
      )
      assert.strictEqual(new Set(made.map((ended) => json<Shown>(ended).id)).size, 1)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is a conflict with a node on another plan, and ambiguous with two", () =>
    Effect.gen(function* () {
      const other = "A-1VCPU-2RAM-20DISK"
      const { id } = json<Shown>(yield* create("job", "--plan", other, "--image", image, "-o", "json"))
      const conflict = yield* create("job", ...order, "--if-absent")
      assert.deepStrictEqual([conflict.code, conflict.stdout], [5, ""])
      assert.include(conflict.stderr, `Node job (${id}) exists with the plan ${shownPlan(other)}, not ${plan}.`)
      assert.notInclude(conflict.stderr, "delete")
      yield* create("job", ...order)
      const ambiguous = yield* create("job", ...order, "--if-absent")
      assert.strictEqual(ambiguous.code, 2)
      assert.include(ambiguous.stderr, "2 nodes are named job")
    }).pipe(Effect.provide(TestServer.layer(inDialect({ uniqueNames: false }))))
  )
})

it.live("NAME and --name, --key and --idempotency-key are the same", () =>
  Effect.gen(function* () {
    const env = ["--dry-run", "-o", "json"]
    const both = [yield* create("web", ...order, ...env), yield* create("--name", "web", ...order, ...env)]
    assert.strictEqual(both[0]!.stdout, both[1]!.stdout)
    for (const flag of ["--key", "--idempotency-key"]) {
      assert.strictEqual((yield* create("web", ...order, flag, "k-1", ...env)).code, 10, "without a state folder")
    }
  }).pipe(Effect.provide(TestServer.layer(inDialect())))
)
