/**
 * The command line with today's API from end to end: a project and a location, plans by SKU, lists without dates, and creates whose replies
 * have other shapes. The tests also check that berth never creates or buys anything twice.
 */
import { failure, lost, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import type { Ended } from "@berthkit/testing/Program"
import { TestServer, type TestWorldOptions } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { settingsOf } from "../account.ts"
import { json, lines, run, start } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

/** The create is carried out, but its reply never arrives. */
const lostReply = { fault: "create-lost-reply", times: 1 } as const

const image = "Ubuntu-24.04-Distro"

/** A world in today's dialect, and berth with one of its places. */
const today = (options: TestWorldOptions = {}, location = "Delhi") =>
  Effect.gen(function* () {
    const server = yield* TestServer
    const world = yield* server.makeWorld({
      dialect: "today",
      clock: "real",
      provisioning: Duration.millis(50),
      ...options
    })
    const state = yield* stateFolder
    const env = {
      ...settingsOf(world),
      BERTH_PROJECT: "7",
      BERTH_LOCATION: location,
      XDG_STATE_HOME: join(state, "state"),
      XDG_CACHE_HOME: join(state, "cache")
    }
    const berth = (...args: ReadonlyArray<string>) => hurried(invoke(args, { env }))
    const nodes = Effect.map(
      Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} })),
      (all) => all.map(({ name }) => name)
    )
    return { berth, env, nodes, state, world }
  })

const order = ["--plan", "C3.8GB", "--image", image, "--yes"]

const good = (ended: Ended): Ended => {
  assert.strictEqual(ended.code, 0, ended.stderr)
  return ended
}

describe("berth with the service of today", () => {
  it.live("creates by SKU, waits, and finds the node by its name; the key makes no second one", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today()
      good(yield* berth("node", "create", "first", ...order))
      const create = ["node", "create", "web", ...order, "--idempotency-key", "job", "--wait", "-o", "json"]
      const made = json<{
        readonly id: number
        readonly outcome: string
        readonly plan: string
        readonly status: string
      }>(good(yield* berth(...create)))
      assert.deepInclude(made, { outcome: "created", plan: "C3.8GB", status: "running" })
      const again = json<{ id: number }>(good(yield* berth(...create)))
      assert.strictEqual(again.id, made.id)
      const got = json<object>(good(yield* berth("node", "get", "web", "-o", "json")))
      assert.deepInclude(got, { id: made.id, memoryMib: 8192, vcpus: 4 })
      assert.deepStrictEqual(yield* nodes, ["first", "web"])
      good(yield* berth("node", "delete", "web", "--yes"))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("adopts the node of a create whose reply is lost, without a date in the list", () =>
    Effect.gen(function* () {
      const { berth, nodes, world } = yield* today()
      good(yield* berth("node", "create", "first", ...order))
      yield* world.arm([lostReply])
      const made = good(yield* berth("node", "create", "web", ...order, "--idempotency-key", "job", "-o", "id"))
      const id = Number(made.stdout)
      const note = `Created node ${id} (no reply named it; found it in the list).`
      assert.include(made.stderr, note)
      const again = good(yield* berth("node", "create", "web", ...order, "--idempotency-key", "job", "-o", "id"))
      assert.strictEqual(Number(again.stdout), id)
      assert.include(again.stderr, `Created node ${id} earlier with the same key.`)
      yield* world.arm([lostReply])
      assert.match(
        good(yield* berth("node", "create", "other", ...order)).stderr,
        /\(no reply named it; found it in the list\)/
      )
      assert.deepStrictEqual(yield* nodes, ["first", "web", "other"])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("does nothing if the node is there, also by its SKU, and refuses another plan", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today()
      good(yield* berth("node", "create", "web", ...order))
      good(yield* berth("node", "create", "web", ...order, "--if-absent"))
      const other = yield* berth("node", "create", "web", "--plan", "C3.4GB", "--image", image, "--yes", "--if-absent")
      assert.notStrictEqual(other.code, 0)
      assert.match(other.stderr, /C3\.8GB/)
      // One SKU has plans for every system. The node states which system it has.
      const system = ["--plan", "C3.8GB", "--image", "Debian-12-Distro", "--yes", "--if-absent"]
      const debian = yield* berth("node", "create", "web", ...system)
      assert.notStrictEqual(debian.code, 0)
      assert.match(debian.stderr, /Ubuntu 24\.04/)
      assert.deepStrictEqual(yield* nodes, ["web"])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("applies a fleet once: nothing is different the second time", () =>
    Effect.gen(function* () {
      const { berth, nodes, state } = yield* today()
      const [plan] = json<ReadonlyArray<{ slugs: ReadonlyArray<{ image: string; slug: string }> }>>(
        good(yield* berth("plan", "list", "-o", "json"))
      )
      const { slug } = plan!.slugs.find((each) => each.image === image)!
      const file = join(state, "fleet.yaml")
      writeFileSync(file, `fleet: shop\nnodes:\n  web: { count: 2, plan: ${slug}, image: ${image} }\n`)
      good(yield* berth("apply", "-f", file, "--yes"))
      const again = good(yield* berth("apply", "-f", file, "--yes"))
      assert.match(again.stderr, /2 members|nothing|unchanged/i)
      good(yield* berth("diff", "-f", file))
      assert.deepStrictEqual((yield* nodes).toSorted(), ["shop-web-1", "shop-web-2"])
      good(yield* berth("destroy", "-f", file, "--yes", "--max-deletes", "2"))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("takes a SKU in a fleet file for the plan of nodes that show it, and refuses one that would be ordered", () =>
    Effect.gen(function* () {
      const { berth, nodes, state } = yield* today()
      const file = join(state, "fleet.yaml")
      const write = (count: number, plan: string) =>
        writeFileSync(file, `fleet: shop\nnodes:\n  web: { count: ${count}, plan: ${plan}, image: ${image} }\n`)
      write(1, "C3-4vCPU-8RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi")
      good(yield* berth("apply", "-f", file, "--yes"))
      write(1, "C3.8GB")
      good(yield* berth("diff", "-f", file))
      assert.include(good(yield* berth("apply", "-f", file, "--yes")).stderr, "Nothing to change.")
      for (const [count, plan, slug] of [
        [2, "C3.8GB", "C3-4vCPU-8RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi"],
        [1, "C3.4GB", "C3-2vCPU-4RAM-50DISK-C3-Onetemplate-Ubuntu24.04-Delhi"]
      ] as const) {
        write(count, plan)
        for (const command of [
          ["diff"],
          ["apply", "--dry-run"],
          ["apply", "--yes"],
          ["apply", "--yes", "--replace", "all"]
        ]) {
          const refused = yield* berth(...command, "-f", file)
          assert.strictEqual(refused.code, 2, `${command.join(" ")}: ${refused.stderr}`)
          assert.include(refused.stderr, `nodes.web.plan: ${plan} is a SKU and not a plan; its plans are ${slug}.`)
        }
      }
      assert.deepStrictEqual(yield* nodes, ["shop-web-1"])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("reads the image list once at most in a command, however often it asks it", () =>
    Effect.gen(function* () {
      const { berth, state, world } = yield* today()
      const slug = "C3-4vCPU-8RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi"
      const file = join(state, "fleet.yaml")
      const write = (count: number, plan = slug) =>
        writeFileSync(file, `fleet: shop\nnodes:\n  web: { count: ${count}, plan: ${plan}, image: ${image} }\n`)
      const reads = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const before = (yield* world.journal).length
        good(yield* berth(...args))
        const paths = (yield* world.journal).slice(before).map(({ path }) => path)
        return paths.filter((path) => path.endsWith("/images/")).length
      })
      write(2)
      for (const command of [
        ["node", "create", "first", ...order],
        ["node", "create", "second", ...order, "--idempotency-key", "job"],
        ["node", "create", "second", ...order, "--idempotency-key", "job"],
        ["node", "create", "first", ...order, "--if-absent"],
        ["node", "create", "third", ...order, "--if-absent"],
        ["node", "create", "many", ...order, "--count", "3"],
        ["node", "list", "--plan", slug],
        ["cost"],
        ["run", ...order, "--", "true"],
        ["apply", "-f", file, "--dry-run"],
        ["apply", "-f", file, "--yes"],
        ["apply", "-f", file, "--yes"],
        ["diff", "-f", file],
        ["cost", "--by", "fleet"],
        ["fleet", "list"]
      ])
        assert.strictEqual(yield* reads(...command), 1, command.join(" "))
      write(2, "C3.8GB")
      assert.strictEqual(yield* reads("apply", "-f", file, "--yes"), 0)
      write(1)
      assert.strictEqual(yield* reads("apply", "-f", file, "--yes", "--max-deletes", "1"), 1)
      assert.strictEqual(yield* reads("destroy", "-f", file, "--yes", "--max-deletes", "1"), 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("names plans by SKU or slug, images by their system, and saved images by their template", () =>
    Effect.gen(function* () {
      const { berth } = yield* today({ scenario: "small" })
      const images = json<ReadonlyArray<{ image: string; name: string; plans: ReadonlyArray<string> }>>(
        good(yield* berth("image", "list", "-o", "json"))
      )
      assert.lengthOf(new Set(images.map(({ image }) => image)), images.length)
      assert.deepInclude(
        images.map(({ image, name }) => ({ image, name })),
        { image, name: "Ubuntu 24.04" }
      )
      const ofSku = json<typeof images>(good(yield* berth("image", "list", "--plan", "c3.8gb", "-o", "json")))
      const slug = ofSku.find((each) => each.image === image)!.plans[0]!
      assert.strictEqual(good(yield* berth("plan", "list", "--plan", slug, "-o", "id")).stdout, "C3.8GB\n")
      const near = yield* berth("plan", "get", `${slug}x`)
      assert.include(near.stderr, `did you mean ${slug}`)
      const saved = good(yield* berth("--project", "1", "image", "saved", "-o", "id")).stdout
      assert.match(saved, /^\d+\n\d+\n$/)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("says which images fit a SKU, not that the plan is unknown", () =>
    Effect.gen(function* () {
      const { berth } = yield* today({ catalogue: "documented" })
      const refused = yield* berth("node", "create", "web", "--plan", "A.1vCPU.2GB", "--image", "WordPress-1CLICK")
      assert.strictEqual(refused.code, 2)
      assert.match(
        refused.stderr,
        /The plan A\.1vCPU\.2GB does not offer the image WordPress-1CLICK; it offers Ubuntu-24\.04/
      )
      const unknown = yield* berth("node", "create", "web", "--plan", "A.1vCPU.2GB", "--image", "Ubuntu-24.4")
      assert.include(unknown.stderr, "There is no image Ubuntu-24.4; did you mean Ubuntu-24.04?")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("completes the names of the place that the line names", () =>
    Effect.gen(function* () {
      const { berth, env } = yield* today()
      good(yield* berth("node", "create", "web", ...order))
      const complete = (...words: ReadonlyArray<string>) =>
        Effect.map(invoke(["__complete", "zsh", "--", ...words, "node", "get", ""], { env }), ({ stdout }) => stdout)
      assert.match(yield* complete(), /^web\t/)
      assert.strictEqual(yield* complete("--location", "Chennai"), "")
      assert.match(yield* complete("--location", "Delhi"), /^web\t/)
      assert.strictEqual(yield* complete("--project=8"), "")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("sees two nodes of one member of a fleet", () =>
    Effect.gen(function* () {
      const { berth, state } = yield* today({ catalogue: "documented", uniqueNames: false })
      const member = ["C-2VCPU-8RAM-50DISK", "Ubuntu-24.04"] as const
      const file = join(state, "fleet.yaml")
      writeFileSync(file, `fleet: shop\nnodes:\n  web: { count: 1, plan: ${member[0]}, image: ${member[1]} }\n`)
      good(yield* berth("apply", "-f", file, "--yes"))
      good(yield* berth("node", "create", "shop-web-1", "--plan", member[0], "--image", member[1], "--yes"))
      const listed = yield* berth("fleet", "list", "-o", "json")
      assert.strictEqual(listed.code, 11, listed.stderr)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("knows what nodes cost by their SKU", () =>
    Effect.gen(function* () {
      const { berth } = yield* today()
      good(yield* berth("node", "create", "web", ...order))
      const [row] = json<ReadonlyArray<object>>(good(yield* berth("cost", "-o", "json")))
      assert.deepInclude(row, { plan: "C3.8GB", pricePerHourInr: 3.2 })
      const listed = json<ReadonlyArray<object>>(good(yield* berth("node", "list", "--plan", "C3.8GB", "-o", "json")))
      assert.lengthOf(listed, 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("never counts dollars as rupees: --max-cost refuses them, and nothing is sent", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today({ currency: "USD" })
      const refused = yield* berth("node", "create", "web", ...order, "--max-cost", "1000")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.deepStrictEqual(yield* nodes, [])
      const plans = json<ReadonlyArray<object>>(good(yield* berth("plan", "list", "-o", "json")))
      assert.deepInclude(plans[0], { pricePerHourInr: null, pricePerMonthInr: null })
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("names the currency of a fleet's prices, which no sum in rupees has", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today({ currency: "USD" })
      const file = join(yield* stateFolder, "fleet.yaml")
      const plan = "C3-4vCPU-8RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi"
      writeFileSync(file, `fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image} }\n`)
      const shown = yield* berth("apply", "-f", file, "--dry-run")
      assert.match(shown.stderr + shown.stdout, /web: \$\d+\.\d+ per hour/)
      const refused = yield* berth("apply", "-f", file, "--yes", "--max-cost", "1000")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "The price of web is in USD, and --max-cost is in rupees")
      assert.deepStrictEqual(yield* nodes, [])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live(
    "replaces a fleet member under another name, and says so where the new node would have the old one's name",
    () =>
      Effect.gen(function* () {
        const { berth, nodes } = yield* today()
        const file = join(yield* stateFolder, "fleet.yaml")
        const write = (plan: string, name: string) =>
          writeFileSync(file, `fleet: shop\nnodes:\n  web: { plan: ${plan}, image: ${image}, name: "${name}" }\n`)
        write("C3-4vCPU-8RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi", "web-{n}")
        good(yield* berth("apply", "-f", file, "--yes"))
        const [smaller, replace] = [
          "C3-2vCPU-4RAM-50DISK-C3-Onetemplate-Ubuntu24.04-Delhi",
          ["apply", "-f", file, "--yes", "--replace", "all", "--max-deletes", "1"]
        ]
        write(smaller, "web-{n}")
        const refused = yield* berth(...replace)
        assert.strictEqual(refused.code, 9, refused.stderr)
        assert.include(refused.stderr, "Node with this name already exists in the project")
        assert.match(refused.stderr, /would have the name of the old one, web-1 \(\d+\), which was not deleted\./)
        assert.match(refused.stderr, /hint: Give the group web another name in the file, such as "name: web-b-\{n\}"/)
        assert.deepStrictEqual(yield* nodes, ["web-1"])
        write(smaller, "web-b-{n}")
        good(yield* berth(...replace))
        const left = json<ReadonlyArray<object>>(
          good(yield* berth("node", "list", "--status", "running", "-o", "json"))
        )
        assert.deepStrictEqual(
          left.map((node) => (node as { name: string }).name),
          ["web-b-1"]
        )
        assert.include(good(yield* berth("apply", "-f", file, "--yes")).stderr, "Nothing to change.")
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("shows whether a node is committed, where a reply about it says so", () =>
    Effect.gen(function* () {
      const { berth } = yield* today()
      good(yield* berth("node", "create", "hourly", ...order))
      const [option] = json<ReadonlyArray<{ committedOptions: ReadonlyArray<{ skuId: number }> }>>(
        good(yield* berth("plan", "list", "--plan", "C3.8GB", "-o", "json"))
      )[0]!.committedOptions
      const sku = String(option!.skuId)
      good(yield* berth("node", "create", "bought", ...order, "--committed-sku", sku, "--max-commitment", "100000"))
      const shown = (...args: ReadonlyArray<string>) =>
        Effect.map(berth(...args, "-o", "json"), (ended) => json<{ committed: boolean | null }>(good(ended)).committed)
      assert.isFalse(yield* shown("node", "get", "hourly"))
      assert.isTrue(yield* shown("node", "get", "bought"))
      const card = good(yield* berth("node", "get", "bought")).stdout
      assert.match(card, /COMMITTED +yes/)
      // The service states the system instead of the image.
      assert.match(card, /^SYSTEM +Ubuntu 24\.04$/m)
      const listed = json<ReadonlyArray<{ id: number; committed: boolean | null }>>(
        good(yield* berth("node", "list", "-o", "json"))
      )
      assert.deepStrictEqual(
        listed.map(({ committed }) => committed),
        [null, null]
      )
      assert.isTrue(yield* shown("commitment", "get", String(listed[1]!.id)))
      const told = good(yield* berth("commitment", "get", String(listed[0]!.id)))
      assert.include(told.stderr, "The service says that the node is not committed.")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("names the flags of the place if a login or a list has none", () =>
    Effect.gen(function* () {
      const { env, state } = yield* today()
      const { BERTH_LOCATION: _location, BERTH_PROJECT: _project, ...without } = env
      const hint = "hint: Name the project and the location of the nodes: --project NUMBER --location NAME"
      const login = yield* run(["auth", "login", "--base-url", env.BERTH_BASE_URL], {
        env: { XDG_CONFIG_HOME: state, XDG_STATE_HOME: state },
        input: `${env.BERTH_API_KEY}\n${env.BERTH_ACCESS_TOKEN}\n`
      })
      assert.include(login.stderr, "Project not found")
      assert.include(login.stderr, hint)
      const listed = yield* invoke(["node", "list"], { env: without })
      assert.include(listed.stderr, hint)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("refuses at once where the account cannot pay, with the service's words", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today({ credit: "too-little" })
      const refused = yield* berth("node", "create", "web", ...order)
      assert.notStrictEqual(refused.code, 0)
      assert.match(refused.stderr, /credit/i)
      assert.deepStrictEqual(yield* nodes, [])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("refuses ids of SSH keys, which the service accepts and does not install", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today()
      const refused = yield* berth("node", "create", "web", ...order, "--ssh-key", "123")
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.deepStrictEqual(yield* nodes, [])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("sends what happens at the end of a commitment with the create, and knows it afterwards", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today()
      const [option] = json<ReadonlyArray<{ committedOptions: ReadonlyArray<{ skuId: number }> }>>(
        good(yield* berth("plan", "list", "--plan", "C3.8GB", "-o", "json"))
      )[0]!.committedOptions
      const sku = String(option!.skuId)
      const create = ["node", "create", "web", ...order, "--commitment", "auto_terminate"]
      const refused = yield* berth(...create)
      assert.strictEqual(refused.code, 2, refused.stderr)
      assert.include(refused.stderr, "--commitment needs --committed-sku")
      assert.deepStrictEqual(yield* nodes, [])
      const bought = [...create, "--committed-sku", sku, "--max-commitment", "100000"]
      const shown = json<{ readonly outcome: string; readonly request: { readonly body: object } }>(
        good(yield* berth(...bought, "--dry-run", "-o", "json"))
      )
      assert.deepInclude(shown.request.body, { cn_id: Number(sku), cn_status: "auto_terminate" })
      assert.match(shown.outcome, /; at its end the node is terminated, unless berth commitment set changes it$/)
      good(yield* berth(...bought))
      const known = json<object>(good(yield* berth("commitment", "get", "web", "-o", "json")))
      assert.deepInclude(known, { setting: "auto_terminate" })
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("sends every field of a create that has no flag, each under the name of the service", () =>
    Effect.gen(function* () {
      const { berth } = yield* today()
      const fields = {
        enable_security_agent: true,
        enable_bitninja: true,
        reserve_ip: "1.2.3.4",
        ngc_container_id: 7,
        subnet_id: "s",
        image_id: 5
      }
      const extra = Object.entries(fields).flatMap(([name, value]) => ["--extra", `${name}=${JSON.stringify(value)}`])
      const shown = json<{ readonly request: { readonly body: object } }>(
        good(yield* berth("node", "create", "web", ...order, ...extra, "--dry-run", "-o", "json"))
      )
      assert.deepInclude(shown.request.body, fields)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("takes no further field that belongs to Berth, not even to show it, and says what to use instead", () =>
    Effect.gen(function* () {
      const { berth, nodes } = yield* today()
      for (const [field, why] of [
        ["number_of_instances=3", "a create makes one node"],
        ['plan="x"', "use --plan"],
        ['cn_status="auto_renew"', "use --commitment"],
        ["is_saved_image=true", "use --saved-image"],
        ["project_id=9", "use --project"],
        ['location="Chennai"', "use --location"],
        ['enable_security_agent="yes"', "the service takes no such enable_security_agent"],
        ["zone", "expected FIELD=JSON, such as zone=1"],
        ["zone=one", "expected JSON after zone=, such as 1, true or '\"a text\"'"]
      ] as const) {
        const refused = yield* berth("node", "create", "web", ...order, "--extra", field, "--dry-run")
        assert.strictEqual(refused.code, 2, field)
        assert.include(refused.stderr, `--extra cannot be ${field}: ${why}.`)
      }
      // A run buys no commitment, so it has no flag for one either.
      for (const field of ["cn_id=7", 'cn_status="auto_renew"']) {
        const refused = yield* berth("run", ...order, "--extra", field, "--dry-run", "--", "true")
        assert.strictEqual(refused.code, 2, field)
        assert.include(refused.stderr, `--extra cannot be ${field}: berth run buys no commitment.`)
      }
      assert.deepStrictEqual(yield* nodes, [])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("shows which plans are sold out, and orders none of them unless it is forced", () =>
    Effect.gen(function* () {
      const { berth, nodes, state, world } = yield* today()
      const listed = json<
        ReadonlyArray<{
          readonly plan: string
          readonly available: boolean | null
          readonly slugs: ReadonlyArray<{ image: string; slug: string; available: boolean | null }>
        }>
      >(good(yield* berth("plan", "list", "-o", "json")))
      const soldOut = listed.find(({ available }) => available === false)!
      assert.isTrue(listed.find(({ plan }) => plan === "C3.8GB")!.available)
      assert.isTrue(soldOut.slugs.every(({ available }) => available === false))
      const table = good(yield* berth("plan", "list", "--columns", "plan,available")).stdout
      assert.match(table, /^C3\.8GB +yes$/m)
      assert.match(table, new RegExp(`^${soldOut.plan} +no$`, "m"))
      const card = good(yield* berth("plan", "get", soldOut.plan)).stdout
      assert.match(card, /AVAILABLE +no/)
      assert.include(card, `${soldOut.slugs[0]!.slug} with ${soldOut.slugs[0]!.image} (sold out)`)

      const { slug } = soldOut.slugs.find((each) => each.image === image)!
      const before = (yield* world.journal).length
      const file = join(state, "fleet.yaml")
      writeFileSync(file, `fleet: shop\nnodes:\n  web: { plan: ${slug}, image: ${image} }\n`)
      const plan = ["--plan", soldOut.plan, "--image", image, "--yes"]
      for (const command of [
        ["node", "create", "web", ...plan],
        ["run", ...plan, "--", "true"],
        ["apply", "-f", file, "--yes"]
      ]) {
        const refused = yield* berth(...command)
        assert.strictEqual(refused.code, 2, refused.stderr)
        assert.include(refused.stderr, `The plan ${slug} is sold out, according to the image list.`)
        assert.include(refused.stderr, "hint: See which are not: berth plan list --columns plan,available")
      }
      assert.include(
        (yield* berth("apply", "-f", file, "--yes")).stderr,
        "node create --force and add it with berth fleet adopt."
      )
      assert.isTrue((yield* world.journal).slice(before).every(({ method }) => method === "GET"))
      const forced = yield* berth("node", "create", "web", ...plan, "--force")
      assert.strictEqual(forced.code, 5)
      assert.include(forced.stderr, "Plan is not available in this location")
      assert.notInclude(forced.stderr, "slug")
      assert.deepStrictEqual(yield* nodes, [])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  it.live("lists plans and creates with a catalogue of 2000 records", () =>
    Effect.gen(function* () {
      const { berth } = yield* today({ catalogue: "whole" })
      const plans = json<ReadonlyArray<{ slugs: ReadonlyArray<{ slug: string; image: string }> }>>(
        good(yield* berth("plan", "list", "-o", "json"))
      )
      assert.isAbove(plans.flatMap(({ slugs }) => slugs).length, 1500)
      const { image, slug } = plans[0]!.slugs[0]!
      good(yield* berth("node", "create", "web", "--plan", slug, "--image", image, "--yes"))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )

  for (const options of [
    { listDates: true },
    { order: "descending" },
    { paging: "ignored" },
    { paging: "cut" },
    { paging: "not-found-after-the-end" },
    { failuresWith200: true }
  ] as const) {
    it.live(`makes one node under a key and forgets none, with ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const { berth, nodes, world } = yield* today(options)
        for (const name of ["one", "two"]) good(yield* berth("node", "create", name, ...order))
        yield* world.arm([lostReply])
        const create = ["node", "create", "web", ...order, "--idempotency-key", "job"]
        good(yield* berth(...create))
        good(yield* berth(...create))
        assert.deepStrictEqual((yield* nodes).toSorted(), ["one", "two", "web"])
        const missing = yield* berth("node", "get", "99999999")
        assert.strictEqual(missing.code, 4, missing.stderr)
        assert.lengthOf(json<ReadonlyArray<object>>(good(yield* berth("node", "list", "-o", "json"))), 3)
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
    )
  }
})

/**
 * A service that ignores paging, shows only the first nodes, and loses the replies to creates or refuses the creates. Returns `berth` for
 * this service, and the creates that were sent.
 */
const cutList = (count: number, shown: number, totals: object, refusal?: Reply) =>
  Effect.gen(function* () {
    const nodes = Array.from({ length: count }, (_, i) => nodeRecord({ id: 1001 + i, name: `old-${i}` }))
    const creates: Array<Request> = []
    const url = yield* serve((request) => {
      const { method, path } = request
      if (path === "/images/") return ok([])
      if (method === "GET" && path === "/nodes/") {
        const { body, ...reply } = ok(nodes.slice(0, shown))
        return { ...reply, body: JSON.stringify({ ...JSON.parse(body), ...totals }) }
      }
      if (method !== "POST") return failure(404, "Not found")
      creates.push(request)
      if (refusal !== undefined) return refusal
      nodes.push(nodeRecord({ id: 1001 + nodes.length, name: "web" }))
      return lost
    })
    const state = yield* stateFolder
    const env = {
      BERTH_API_KEY: "key-of-a-test",
      BERTH_ACCESS_TOKEN: "token-of-a-test",
      BERTH_BASE_URL: url,
      BERTH_PROJECT: "7",
      BERTH_LOCATION: "Delhi",
      XDG_STATE_HOME: state
    }
    const berth = (...args: ReadonlyArray<string>) => hurried(invoke(args, { env }))
    return { berth, creates }
  })

describe("a create where the list may be cut", () => {
  for (const [shown, totals] of [
    [100, {}],
    [100, { total_count: 150 }],
    [20, { total_page_number: 8 }],
    [20, { total_count: "150", total_page_number: "8" }],
    [20, { total_count: 20, total_page_number: 8 }]
  ] as const) {
    it.live(`is refused before it is sent, with ${shown} of 150 nodes and ${JSON.stringify(totals)}`, () =>
      Effect.gen(function* () {
        const { berth, creates } = yield* cutList(150, shown, totals)
        const kinds = ["--plan", "C3.8GB", "--image", image, "--force"]
        for (const command of [
          ["node", "create", "web", ...kinds, "--yes"],
          ["node", "create", "web", ...kinds, "--yes", "--idempotency-key", "job"],
          ["run", ...kinds, "--yes", "--", "true"]
        ]) {
          const { code, stderr } = yield* berth(...command)
          assert.strictEqual(code, 7, stderr)
          assert.match(stderr, /expected (?:150 nodes|8 pages|the end of the list)/)
        }
        assert.lengthOf(creates, 0)
      }).pipe(Effect.scoped)
    )
  }
})

describe("node watch where the list may be cut", () => {
  it.live("does not say of a node that is only no longer listed that it is gone", () =>
    Effect.gen(function* () {
      const nodes = [1001, 1002, 1003].map((id) => nodeRecord({ id, name: `n-${id}` }))
      let lists = 0
      const replies = [ok(nodes[2]), ok({ ...nodes[2], status: "power-off" }), failure(404, "Not found")]
      const url = yield* serve(({ path }) => {
        if (path === "/nodes/1003/") return replies.shift() ?? failure(404, "Not found")
        // A list whose pages are all the same takes three requests.
        return ok(nodes.slice(0, ++lists > 3 ? 2 : 3))
      })
      const env = {
        BERTH_API_KEY: "key-of-a-test",
        BERTH_ACCESS_TOKEN: "token-of-a-test",
        BERTH_BASE_URL: url,
        XDG_STATE_HOME: yield* stateFolder
      }
      const watch = yield* start(["node", "watch", "--interval", "1s", "-o", "ndjson"], { env })
      yield* watch.untilStdout('"to":null')
      yield* watch.kill("SIGINT")
      const changes = lines((yield* watch.ended).stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        changes.map(({ from, id, to }) => [id, from, to]),
        [
          [1003, "running", "power-off"],
          [1003, "power-off", null]
        ]
      )
    }).pipe(Effect.scoped)
  )
})

describe("a create with --if-absent where the list may be cut", () => {
  it.live("is refused before it is sent, and the hint says how to finish it by hand", () =>
    Effect.gen(function* () {
      const { berth, creates } = yield* cutList(25, 20, {})
      const kinds = ["--plan", "C3.8GB", "--image", image, "--force", "--yes"]
      const { code, stderr } = yield* berth("node", "create", "web", ...kinds, "--if-absent")
      assert.deepStrictEqual([code, creates.length], [7, 0], stderr)
      assert.include(
        stderr,
        "hint: Nothing was created. Look for the name in the service's console. If no node has it, create one without --if-absent."
      )
    }).pipe(Effect.scoped)
  )
})

describe("a create with --if-absent where the list that may be cut shows the node", () => {
  it.live("does nothing, because that node suffices", () =>
    Effect.gen(function* () {
      const record = nodeRecord({ id: 1001, name: "web", plan: "C3.8GB", image })
      const methods: Array<string> = []
      const url = yield* serve(({ method, path }) => {
        methods.push(method)
        return path === "/images/" ? ok([]) : ok(path === "/nodes/" ? [record] : record)
      })
      const env = {
        BERTH_API_KEY: "key-of-a-test",
        BERTH_ACCESS_TOKEN: "token-of-a-test",
        BERTH_BASE_URL: url,
        XDG_STATE_HOME: yield* stateFolder
      }
      const kinds = ["--plan", "C3.8GB", "--image", image, "--force", "--yes", "--if-absent"]
      good(yield* invoke(["node", "create", "web", ...kinds], { env }))
      assert.notInclude(methods, "POST")
    }).pipe(Effect.scoped)
  )
})

describe("a create that the rate limit refuses where the list may be cut", () => {
  const kinds = ["--plan", "C3.8GB", "--image", image, "--force", "--yes"]
  for (const [what, command, hint] of [
    [
      "with the user's key",
      ["node", "create", "web", ...kinds, "--idempotency-key", "job"],
      "Look for web in the service's console. If it is not there, create it with another key."
    ],
    [
      "without a key",
      ["node", "create", "web", ...kinds],
      "Look for web in the service's console. If it is not there, create it again."
    ],
    [
      "of a run",
      ["run", "--name", "web", ...kinds, "--", "true"],
      "Look for web in the service's console, and delete it if it is there. Then remove "
    ]
  ] as const) {
    it.live(`${what}, is open, and the hint says how to finish it by hand`, () =>
      Effect.gen(function* () {
        const { berth, creates } = yield* cutList(25, 20, {}, failure(429, "Too many requests"))
        const { code, stderr } = yield* berth(...command)
        assert.strictEqual(code, 8, stderr)
        assert.include(stderr, hint)
        assert.notInclude(stderr, "in a minute")
        assert.lengthOf(creates, 1)
        if (!command.includes("--idempotency-key")) return
        const again = yield* berth(...command)
        assert.deepStrictEqual([again.code, creates.length], [8, 1], again.stderr)
        assert.include(again.stderr, hint)
      }).pipe(Effect.scoped)
    )
  }
})

describe("a create whose reply shows two nodes", () => {
  it.live("names both nodes in its hint, and deletes neither", () =>
    Effect.gen(function* () {
      const shown = [103, 104].map((id) => nodeRecord({ id, name: "web", created_at: new Date().toISOString() }))
      const counted = { total_number_of_node_requested: 1, total_number_of_node_created: 2 }
      const asked: Array<string> = []
      let made = false
      const url = yield* serve(({ method, path }) => {
        asked.push(method)
        if (method === "POST") {
          made = true
          return ok({ ...counted, node_create_response: shown })
        }
        return ok(path === "/nodes/" && made ? shown : [])
      })
      const env = {
        BERTH_API_KEY: "key-of-a-test",
        BERTH_ACCESS_TOKEN: "token-of-a-test",
        BERTH_BASE_URL: url,
        BERTH_PROJECT: "7",
        BERTH_LOCATION: "Delhi",
        XDG_STATE_HOME: yield* stateFolder
      }
      const kinds = ["--plan", "C3.8GB", "--image", image, "--force", "--yes"]
      for (const command of [
        ["node", "create", "web", ...kinds],
        ["node", "create", "web", ...kinds, "--idempotency-key", "job"],
        ["run", "--name", "web", ...kinds, "--", "true"]
      ]) {
        made = false
        const { code, stderr } = yield* hurried(invoke(command, { env }))
        assert.strictEqual(code, 8, stderr)
        assert.match(stderr, /hint: .*berth node get 103 104/)
      }
      assert.notInclude(asked, "DELETE")
    }).pipe(Effect.scoped)
  )
})
