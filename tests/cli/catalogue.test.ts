/**
 * Images, plans, and any request at all, against the mock service.
 */
import { Image } from "@berth/core/domain/Image"
import { Plan } from "@berth/core/domain/Plan"
import { assert, layer } from "@effect/vitest"
import { TestServer } from "@berth/server/testing"
import { Effect, Schema } from "effect"
import { berth, json, lines } from "./berth.ts"

const images = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(Image)))
const plans = Schema.decodeUnknownSync(Schema.toCodecJson(Schema.Array(Plan)))

layer(TestServer.layer({ scenario: "small" }), { excludeTestServices: true })("the catalogue", (it) => {
  it.effect("of images narrows by every filter; --version takes a value here", () =>
    Effect.gen(function* () {
      const all = images(json(yield* berth(["image", "list", "-o", "json"])))
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
      const some = images(json(yield* berth(args)))
      assert.isNotEmpty(some)
      assert.deepStrictEqual(
        some,
        all.filter(
          ({ os, specs }) =>
            os.name === "Ubuntu" && os.version === "22.04" && specs.vcpus === 2 && specs.series?.toLowerCase() === "c"
        )
      )
    })
  )

  it.effect("of saved images is the account's own", () =>
    Effect.gen(function* () {
      const saved = images(json(yield* berth(["image", "saved", "-o", "json"])))
      assert.isNotEmpty(saved)
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

layer(TestServer.layer({ scenario: "small" }), { excludeTestServices: true })("api", (it) => {
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

  it.effect("takes a body from the command line, a file, or stdin", () =>
    Effect.gen(function* () {
      const body = (name: string) =>
        JSON.stringify({ name, region: "ncr", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" })
      const inline = yield* berth(["api", "POST", "/nodes/", "-d", body("inline")])
      const piped = yield* berth(["api", "POST", "/nodes/", "-d", "-"], { input: body("piped") })
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
