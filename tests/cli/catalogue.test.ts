/** Images, plans, and `berth api` with any request, against the mock service. */
import { SavedImage } from "@berthkit/core/domain/Image"
import { Plan } from "@berthkit/core/domain/Plan"
import { failure, ok, type Reply } from "@berthkit/core/testing"
import { assert, layer } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect, Schema } from "effect"
import { inDialect, shownPlan } from "../account.ts"
import { json, lines, run, settings } from "./berth.ts"
import { berth } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

const images = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(SavedImage)))
/** An image as `berth image list` prints it. */
interface Listed {
  readonly image: string
  readonly os: { readonly name: string; readonly version: string }
  readonly plans: ReadonlyArray<string>
}

const plans = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(Plan)))

layer(TestServer.layer(inDialect({ scenario: "small" })), { excludeTestServices: true })("the catalogue", (it) => {
  it.effect("of images narrows by every filter; --version takes a value here", () =>
    Effect.gen(function* () {
      const args = [
        "image",
        "list",
        "--os",
        "Ubuntu",
        "--version",
        "22.04",
        "--cpu",
        "2",
        "--series",
        "c",
        "-o",
        "json"
      ]
      const some = json<ReadonlyArray<Listed>>(yield* berth(args))
      assert.isNotEmpty(some)
      assert.isTrue(some.every(({ os }) => os.name === "Ubuntu" && os.version === "22.04"))
      assert.isTrue(some.every(({ plans }) => plans.every((plan) => plan.startsWith("C-2VCPU-"))))
      assert.isAbove(json<ReadonlyArray<Listed>>(yield* berth(["image", "list", "-o", "json"])).length, some.length)
    })
  )

  it.effect("of plans and images narrows by the least that a plan is to have", () =>
    Effect.gen(function* () {
      const all = plans(json(yield* berth(["plan", "list", "-o", "json"])))
      const some = plans(json(yield* berth(["plan", "list", "--min-cpu", "4", "--min-ram", "12", "-o", "json"])))
      assert.isNotEmpty(some)
      assert.deepStrictEqual(
        some.map(({ plan }) => plan),
        all.filter(({ memoryMib, vcpus }) => vcpus! >= 4 && memoryMib! >= 12 * 1024).map(({ plan }) => plan)
      )
      const large = json<ReadonlyArray<Listed>>(yield* berth(["image", "list", "--min-ram", "48", "-o", "json"]))
      const offered = new Set(large.flatMap((image) => image.plans))
      assert.isNotEmpty(offered)
      for (const { memoryMib, plan } of all) assert.strictEqual(offered.has(plan), memoryMib! >= 48 * 1024, plan)
    })
  )

  it.effect("of images has each of them once", () =>
    Effect.gen(function* () {
      const slugs = lines((yield* berth(["image", "list", "-o", "id"])).stdout)
      assert.isNotEmpty(slugs)
      assert.lengthOf(new Set(slugs), slugs.length)
    })
  )

  it.effect("of saved images is the account's own", () =>
    Effect.gen(function* () {
      const saved = images(json(yield* berth(["image", "saved", "-o", "json"])))
      assert.isNotEmpty(saved)
    })
  )

  it.effect("of private images has only saved images, even if the service ignores the filter", () =>
    Effect.gen(function* () {
      const record = (image: string) => ({
        name: image,
        plan: "C-2VCPU-8RAM-50DISK",
        image,
        os: { name: "Ubuntu", version: "24.04", image: null },
        zone: { slug_name: "ncr" },
        specs: { ram: "8.00", cpu: 2, disk_space: 50, price_per_hour: "1", price_per_month: "730", series: "C" }
      })
      const own = record("web-before-upgrade")
      const url = yield* serve(({ path }) =>
        ok(path === "/images/saved-images/" ? [own] : [record("Ubuntu-24.04"), own])
      )
      const env = { ...(yield* settings), BERTH_BASE_URL: url }
      const listed = yield* run(["image", "list", "--type", "private", "-o", "id"], { env })
      assert.deepStrictEqual([listed.code, listed.stdout], [0, "web-before-upgrade\n"], listed.stderr)
      assert.include(
        listed.stderr,
        "The service listed 1 record as private that belongs to no saved image of this account"
      )
      const all = yield* run(["image", "list", "-o", "id"], { env })
      assert.deepStrictEqual([all.stdout, all.stderr], ["Ubuntu-24.04\nweb-before-upgrade\n", ""])
    })
  )

  it.effect("of images and plans narrows to one plan", () =>
    Effect.gen(function* () {
      const plan = "C-2VCPU-8RAM-50DISK"
      const some = json<ReadonlyArray<Listed>>(yield* berth(["image", "list", "--plan", plan, "-o", "json"]))
      assert.isNotEmpty(some)
      assert.isTrue(some.every(({ plans }) => plans.length === 1 && plans[0] === plan))
      assert.strictEqual(
        (yield* berth(["plan", "list", "--plan", plan.toLowerCase(), "-o", "id"])).stdout,
        `${shownPlan(plan)}\n`
      )
    })
  )

  it.effect("ends at --limit, in the order that is asked for, and states how many there are", () =>
    Effect.gen(function* () {
      for (const command of [
        ["plan", "list"],
        ["image", "list"],
        ["image", "saved"]
      ]) {
        for (const sort of [[], ["--sort", command[0] === "plan" ? "price" : "-name"]]) {
          const all = lines((yield* berth([...command, ...sort, "-o", "id"])).stdout)
          const some = yield* berth([...command, ...sort, "-o", "id", "--limit", "1"])
          assert.deepStrictEqual([some.code, lines(some.stdout)], [0, all.slice(0, 1)])
          assert.strictEqual(some.stderr, `1 of ${all.length}.\n`)
          const whole = yield* berth([...command, ...sort, "-o", "id", "--limit", String(all.length)])
          assert.deepStrictEqual([lines(whole.stdout), whole.stderr], [all, ""])
        }
        assert.strictEqual((yield* berth([...command, "--limit", "0"])).code, 2)
      }
      assert.strictEqual((yield* berth(["plan", "list", "--limit", "2", "-o", "json"])).stderr, "")
    })
  )

  it.effect("has each plan by itself, with when its commitments pay", () =>
    Effect.gen(function* () {
      const plan = "C-2VCPU-8RAM-50DISK"
      const got = json<(typeof Plan)["Encoded"]>(yield* berth(["plan", "get", plan, "-o", "json"]))
      const { committedOptions, pricePerHourInr } = got as unknown as {
        readonly pricePerHourInr: number
        readonly committedOptions: ReadonlyArray<{ readonly priceInr: number; readonly breakEvenDays: number }>
      }
      assert.isNotEmpty(committedOptions)
      for (const { breakEvenDays, priceInr } of committedOptions) {
        assert.closeTo(breakEvenDays, priceInr / (pricePerHourInr * 24), 0.05)
      }
      assert.match((yield* berth(["plan", "get", plan])).stdout, /30 DAYS +₹[\d.]+, pays after [\d.]+ days \(SKU \d+\)/)
      const unknown = yield* berth(["plan", "get", "C-2VCPU-8RAM-51DISK"])
      assert.strictEqual(unknown.code, 4)
      assert.include(unknown.stderr, "did you mean C-2VCPU-8RAM-50DISK")
    })
  )

  it.effect("prices the account: cost adds up to what each node's plan costs", () =>
    Effect.gen(function* () {
      const priceOf = new Map(
        plans(json(yield* berth(["plan", "list", "-o", "json"]))).map(({ plan, pricePerHourInr }) => [
          plan,
          pricePerHourInr
        ])
      )
      const nodes = json<ReadonlyArray<{ readonly plan: string }>>(yield* berth(["node", "list", "-o", "json"]))
      const expected = nodes.reduce((sum, { plan }) => sum + (priceOf.get(plan) ?? 0), 0)
      for (const by of ["node", "plan", "status"]) {
        const rows = json<ReadonlyArray<{ readonly pricePerHourInr: number }>>(
          yield* berth(["cost", "--by", by, "-o", "json"])
        )
        assert.closeTo(
          rows.reduce((sum, { pricePerHourInr }) => sum + pricePerHourInr, 0),
          expected,
          1e-6
        )
      }
      const { stderr } = yield* berth(["cost"])
      assert.include(stderr, `${nodes.length} nodes: ₹${expected.toFixed(2)} per hour`)
    })
  )

  it.effect("prices the account, with a line for nodes that are off and still billed", () =>
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const [first] = json<ReadonlyArray<{ readonly id: number }>>(yield* berth(["node", "list", "-o", "json"]))
      const change = (status: "power-off" | null) =>
        Effect.orDie(control.nodes.change({ params: { world, id: first!.id }, payload: { status } }))
      yield* change("power-off")
      const [total, off, ...rest] = lines((yield* berth(["cost"])).stderr)
      yield* change(null)
      assert.match(total!, /^5 nodes: ₹[\d.]+ per hour, ₹[\d.]+ per month, by their hourly prices\.$/)
      assert.deepStrictEqual([off, rest], ["1 node off and still billed.", []])
    })
  )

  it.effect("shows how much of the rate limit is left", () =>
    Effect.gen(function* () {
      const limits = json<{ readonly limit: number; readonly remaining: number; readonly resetAt: string }>(
        yield* berth(["limits", "-o", "json"])
      )
      assert.strictEqual(limits.limit, 1200)
      assert.isBelow(limits.remaining, 1200)
      assert.match(limits.resetAt, /^\d{4}-.+Z$/)
    })
  )

  it.effect("of plans has prices and committed options, and sorts by price", () =>
    Effect.gen(function* () {
      const sorted = plans(json(yield* berth(["plan", "list", "--sort", "price", "-o", "json"])))
      const prices = sorted.map(({ pricePerHourInr }) => pricePerHourInr ?? Number.POSITIVE_INFINITY)
      assert.deepStrictEqual(
        prices,
        prices.toSorted((a, b) => a - b)
      )
      const [header, ...rows] = lines((yield* berth(["plan", "list"])).stdout)
      assert.match(header ?? "", /₹\/HOUR +₹\/MONTH +₹\/30 DAYS \(SKU\)/)
      assert.lengthOf(rows, sorted.length)
    })
  )

  it.effect("that matches nothing is [] and no failure", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* berth(["plan", "list", "--cpu", "999", "-o", "json"])
      assert.deepStrictEqual({ code, stdout }, { code: 0, stdout: "[]\n" })
    })
  )
})

layer(TestServer.layer(inDialect({ scenario: "small" })), { excludeTestServices: true })("api", (it) => {
  it.effect("prints the body as it came, with the status and the headers when asked", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* berth(["api", "get", "/nodes/", "-q", "per_page=2", "-q", "page_no=2"])
      assert.strictEqual(code, 0)
      assert.deepStrictEqual(
        JSON.parse(stdout).data.map(({ name }: { name: string }) => name),
        ["database", "build"]
      )
      const [status, ...rest] = lines((yield* berth(["api", "GET", "nodes/", "-i"])).stdout)
      assert.strictEqual(status, "HTTP 200")
      assert.isTrue(rest.some((line) => /^ratelimit-remaining: \d+$/.test(line)))
    })
  )

  it.effect("prints the reply to a refused request, and exits with the code of the failure", () =>
    Effect.gen(function* () {
      const refused = yield* berth(["api", "GET", "/nodes/1/", "-i"])
      assert.strictEqual(refused.code, 4)
      const [status, ...rest] = lines(refused.stdout)
      assert.strictEqual(status, "HTTP 404")
      assert.strictEqual(JSON.parse(rest.at(-1) ?? "").code, 404)
      assert.match(refused.stderr, /^error: .+\nhint: .+\n$/)
      const whole = yield* berth(["api", "GET", "/nodes/1/", "-o", "json"])
      assert.strictEqual(JSON.parse(whole.stdout).code, 404)
      assert.strictEqual(JSON.parse(whole.stderr).error.httpStatus, 404)
    })
  )

  it.effect("reports what may be wrong with a refused request", () =>
    Effect.gen(function* () {
      for (const [args, hint] of [
        [["PUT", "/nodes/"], "hint: Use a method that the path supports."],
        [["GET", "/node/"], "hint: Check the path and the ids in it; "],
        [["POST", "/nodes/", "-d", "{}"], "hint: Correct the named fields"]
      ] as const) {
        assert.include((yield* berth(["api", ...args])).stderr, hint)
      }
    })
  )

  it.effect("needs no GET, and takes a query in the path", () =>
    Effect.gen(function* () {
      const { code, stdout } = yield* berth(["api", "/nodes/?per_page=2&page_no=2"])
      assert.strictEqual(code, 0)
      assert.lengthOf(JSON.parse(stdout).data, 2)
    })
  )

  it.effect("--paginate reads every page and prints one list", () =>
    Effect.gen(function* () {
      const whole = yield* berth(["api", "/nodes/", "--paginate", "-q", "per_page=2"])
      const ids = json<ReadonlyArray<{ readonly id: number }>>(whole).map(({ id }) => id)
      assert.isAbove(ids.length, 2)
      assert.lengthOf(new Set(ids), ids.length)
      const parts = yield* berth(["api", "/nodes/", "--paginate", "-o", "ndjson"])
      assert.deepStrictEqual(
        lines(parts.stdout).map((line) => JSON.parse(line).id),
        ids
      )
    })
  )

  it.effect("--paginate of a path without pages gives each element once", () =>
    Effect.gen(function* () {
      const { data } = json<{ readonly data: ReadonlyArray<unknown> }>(yield* berth(["api", "/images/"]))
      assert.isNotEmpty(data)
      for (const size of [[], ["-q", `per_page=${data.length}`]]) {
        const all = yield* berth(["api", "/images/", "--paginate", ...size])
        assert.deepStrictEqual(json<ReadonlyArray<unknown>>(all), data)
      }
    })
  )

  /** `berth api --paginate` with a service that answers each page number with `replyTo`, for the nth time. */
  const paginated = Effect.fnUntraced(function* (replyTo: (page: number, nth: number) => Reply) {
    const asked: Array<number> = []
    const url = yield* serve(({ query }) => {
      const page = Number(query["page_no"])
      asked.push(page)
      return replyTo(page, asked.filter((other) => other === page).length)
    })
    const env = { ...(yield* settings), BERTH_BASE_URL: url }
    return { ...(yield* run(["api", "/things/", "--paginate"], { env })), asked }
  })

  const things = [[1, 2], [3, 4], [5]]
  const pageOf = (page: number, totals: object = {}): Reply => {
    const { body, ...reply } = ok(things[page - 1] ?? [])
    return { ...reply, body: JSON.stringify({ ...JSON.parse(body), ...totals }) }
  }

  it.effect("--paginate asks again for a page that is not found, and then continues", () =>
    Effect.gen(function* () {
      const invalid = failure(404, "Invalid page.")
      const { asked, code, stdout } = yield* paginated((page, nth) =>
        (page === 2 && nth === 1) || page > 3 ? invalid : pageOf(page)
      )
      assert.deepStrictEqual([code, JSON.parse(stdout)], [0, [1, 2, 3, 4, 5]])
      assert.deepStrictEqual(asked, [1, 2, 2, 3])
    }).pipe(Effect.scoped)
  )

  it.effect(
    "--paginate says that a list that ends with a page that is not found may be cut, unless totals confirm it",
    () =>
      Effect.gen(function* () {
        const invalid = failure(404, "Invalid page.")
        const noteOf = (count: number) =>
          `The list ends with a page that is not found: there may be more elements than these ${count}.`
        for (const [pages, totals, isNoted] of [
          [1, {}, true],
          [1, { total_count: 2 }, true],
          [1, { total_count: 2, total_page_number: 1 }, false],
          [2, {}, true],
          [2, { total_count: 4 }, false],
          [2, { total_count: 4, total_page_number: 2 }, false]
        ] as const) {
          const { code, stderr, stdout } = yield* paginated((page) => (page > pages ? invalid : pageOf(page, totals)))
          assert.deepStrictEqual([code, JSON.parse(stdout)], [0, things.slice(0, pages).flat()], stderr)
          assert.strictEqual(stderr.includes(noteOf(2 * pages)), isNoted, JSON.stringify([pages, totals, stderr]))
        }
        // A later page that is shorter than the first shows that the service counts pages.
        const short = yield* paginated((page) => (page > 3 ? invalid : pageOf(page)))
        assert.deepStrictEqual([short.code, short.stderr], [0, ""])
      }).pipe(Effect.scoped)
  )

  it.effect("--paginate does not take a 404 for the end if a later page exists", () =>
    Effect.gen(function* () {
      const invalid = failure(404, "Invalid page.")
      const { code, stderr } = yield* paginated((page) =>
        page === 2 || page > 3 ? invalid : pageOf(page, { total_page_number: 3 })
      )
      assert.strictEqual(code, 7, stderr)
      assert.include(stderr, "The service states 3 pages (total_page_number), and shows 1.")
    }).pipe(Effect.scoped)
  )

  for (const total of [5, "5"]) {
    it.effect(`--paginate fails if pages end before the stated ${JSON.stringify(total)} elements`, () =>
      Effect.gen(function* () {
        for (const end of [failure(404, "Invalid page."), ok([]), pageOf(1, { total_count: total })]) {
          const { code, stderr } = yield* paginated((page) => (page === 1 ? pageOf(1, { total_count: total }) : end))
          assert.strictEqual(code, 7, stderr)
          assert.include(stderr, "The service states 5 elements (total_count), and its pages have 2.")
        }
      }).pipe(Effect.scoped)
    )
  }

  it.effect("--paginate says if each page is the same, unless both totals confirm that it is the only one", () =>
    Effect.gen(function* () {
      const note = "Each page is the same: there may be more elements than these 2."
      for (const [totals, isNoted] of [
        [{}, true],
        [{ total_count: 2 }, true],
        [{ total_count: 2, total_page_number: 1 }, false]
      ] as const) {
        const { code, stderr, stdout } = yield* paginated(() => pageOf(1, totals))
        assert.deepStrictEqual([code, JSON.parse(stdout)], [0, [1, 2]], stderr)
        assert.strictEqual(stderr.includes(note), isNoted, stderr)
      }
    }).pipe(Effect.scoped)
  )

  for (const status of [400, 422]) {
    it.effect(`--paginate names the page that the service refuses with ${status}, and how to read the others`, () =>
      Effect.gen(function* () {
        const { code, stderr } = yield* paginated((page) => (page === 3 ? failure(status, "Bad page") : pageOf(page)))
        assert.strictEqual(code, 5, stderr)
        assert.include(
          stderr,
          "hint: The service refused page 3, perhaps because the list ends before it. Read the others one by one: -q page_no=2 without --paginate."
        )
        const first = yield* paginated(() => failure(status, "Bad request"))
        assert.notInclude(first.stderr, "refused page")
      }).pipe(Effect.scoped)
    )
  }

  it.effect("--paginate reads every page of a service with smaller pages than were asked for", () =>
    Effect.gen(function* () {
      const pages = [[1, 2], [3, 4], [5]]
      for (const things of [pages, pages.slice(0, 2)]) {
        for (const end of [ok([]), failure(404, "Invalid page.")]) {
          const url = yield* serve(({ query }) => {
            const page = things[Number(query["page_no"]) - 1]
            return page === undefined ? end : ok(page)
          })
          const { stdout } = yield* run(["api", "/things/", "--paginate", "-o", "ndjson"], {
            env: { ...(yield* settings), BERTH_BASE_URL: url }
          })
          assert.strictEqual(
            stdout,
            things
              .flat()
              .map((thing) => `${thing}\n`)
              .join("")
          )
        }
      }
    }).pipe(Effect.scoped)
  )

  it.effect("takes a body from the command line, a file, or stdin", () =>
    Effect.gen(function* () {
      const body = (name: string) =>
        JSON.stringify({ name, region: "ncr", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" })
      const inline = yield* berth(["api", "POST", "/nodes/", "-d", body("inline")])
      const piped = yield* run(["api", "POST", "/nodes/", "-d", "-"], { env: yield* settings, input: body("piped") })
      assert.deepStrictEqual(
        [JSON.parse(inline.stdout).data.name, JSON.parse(piped.stdout).data.name],
        ["inline", "piped"]
      )
      const file = yield* berth(["api", "POST", "/nodes/", "-d", `@${import.meta.filename}`])
      assert.include(file.stderr, "hint: Correct the request and send it again.")
      assert.strictEqual(file.code, 5)
      assert.include(file.stderr, "not well-formed JSON")
    })
  )
})
