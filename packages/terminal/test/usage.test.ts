import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Argument, CliOutput, Command, Flag } from "effect/cli"
import { durationFlag, wholeNumberFlag } from "@berthkit/terminal/valueFlags"
import { didYouMean, nearest, type UsageOptions, usageProblem } from "@berthkit/terminal/usage"

const add = Command.make("add", {
  item: Argument.String("ITEM"),
  after: durationFlag("after", { minMillis: 100, maxMillis: 86_400_000 }).pipe(Flag.optional),
  every: durationFlag("every").pipe(Flag.optional),
  count: wholeNumberFlag("count", 1, 20).pipe(Flag.optional),
  id: wholeNumberFlag("id", 0).pipe(Flag.optional),
  shift: wholeNumberFlag("shift").pipe(Flag.optional),
  kind: Flag.Literals("kind", ["small", "large"]).pipe(Flag.optional)
})
const list = Command.make("list", { name: Flag.String("name") })
const shop = Command.make("shop").pipe(Command.withSubcommands([add, list]))

/** The parser prints nothing. */
const silent = CliOutput.layerPresenter({ present: () => Effect.void })

const problemOf = (line: string, options?: UsageOptions) =>
  Command.runWith(shop, { version: "1" })(line === "" ? [] : line.split(" ")).pipe(
    Effect.flip,
    Effect.map((error) => usageProblem("shop", error, options)),
    Effect.provide([NodeServices.layer, silent])
  )

describe("a wrong command line", () => {
  it.effect.each([
    ["", "shop needs a command."],
    ["lst", "shop has no command lst; did you mean list?"],
    ["frobnicate", "shop has no command frobnicate."],
    ["list", "shop list needs --name."],
    ["list --nam x", "shop list has no flag --nam; did you mean --name?"],
    ["list --name", "--name needs a value."],
    ["add", "shop add needs ITEM."],
    ["add one two", "shop add takes no further argument: two."],
    ["add one --kind smal", "--kind cannot be smal; did you mean small?"],
    ["add one --kind blue", "--kind cannot be blue: expected small, large."],
    ["add one --count 21", "--count cannot be 21: expected a whole number from 1 to 20."],
    ["add one --count 1.5", "--count cannot be 1.5: expected a whole number from 1 to 20."],
    ["add one --id x", "--id cannot be x: expected a whole number from 0."],
    ["add one --id -1", "--id cannot be -1: expected a whole number from 0."],
    ["add one --id 1 --id 2", "--id can be given only once."],
    ["add one --shift 1.5", "--shift cannot be 1.5: expected a whole number."],
    ["add one --shift -9007199254740992", "--shift cannot be -9007199254740992: expected a whole number."],
    ["add one --after 99ms", "--after cannot be 99ms: expected a duration from 100ms to 1d, such as 90s, 5m or 1h30m."],
    ["add one --after 25h", "--after cannot be 25h: expected a duration from 100ms to 1d, such as 90s, 5m or 1h30m."],
    ["add one --every 0s", "--every cannot be 0s: expected a duration, such as 90s, 5m or 1h30m."],
    ["add one --every 5", "--every cannot be 5: expected a duration, such as 90s, 5m or 1h30m."]
  ] as const)("%s", ([line, message]) =>
    Effect.map(problemOf(line), (problem) => {
      assert.strictEqual(problem.message, message)
      assert.match(problem.hint, /^See shop( add| list)? --help\.$/)
    })
  )

  it.effect("that holds a secret does not show it, and the hint names the environment", () =>
    Effect.gen(function* () {
      for (const line of ["--api-key s3cr3t list", "list --access-token=s3cr3t"]) {
        const { hint, message } = yield* problemOf(line)
        assert.strictEqual(hint, "Set BERTH_API_KEY and BERTH_ACCESS_TOKEN in the environment.")
        assert.notInclude(message, "s3cr3t")
      }
    })
  )

  it.effect("of a program whose flags take secrets: the hint names its help", () =>
    Effect.map(problemOf("list --api-key=s3cr3t", { hasSecretFlags: true }), (problem) => {
      assert.deepStrictEqual(problem, {
        message: "shop list has no flag --api-key.",
        hint: "See shop list --help."
      })
    })
  )
})

describe("the nearest words", () => {
  it("are all that are equally near, whatever their case, and none that are far", () => {
    assert.deepStrictEqual(nearest("RUNING", ["running", "created"]), ["running"])
    assert.deepStrictEqual(nearest("cat", ["bat", "hat", "dog"]), ["bat", "hat"])
    assert.deepStrictEqual(nearest("frobnicate", ["list", "get"]), [])
    assert.deepStrictEqual(nearest("c", ["a", "b"]), [])
    assert.deepStrictEqual(nearest("hlep", ["help", "heap"]), ["help"])
    assert.deepStrictEqual(nearest("wide", ["id", "name"]), [])
  })

  it("are those that begin with it where none is spelled alike", () => {
    assert.deepStrictEqual(nearest("ubuntu", ["Ubuntu-24.04", "Ubuntu-22.04", "Debian-12"]), [
      "Ubuntu-24.04",
      "Ubuntu-22.04"
    ])
    assert.deepStrictEqual(nearest("u", ["Ubuntu-24.04"]), [])
  })

  it("are cut where many are equally near", () => {
    assert.strictEqual(didYouMean([]), ".")
    assert.strictEqual(didYouMean(["a"]), "; did you mean a?")
    assert.strictEqual(didYouMean(["a", "b", "c", "d"]), "; did you mean a, b or c?")
  })

  it("may be longer or shorter by a third, and a word of a page's length has none", () => {
    assert.deepStrictEqual(nearest("runn", ["running", "runs"]), ["runs"])
    assert.deepStrictEqual(nearest("abcdefghi", ["abcdef", "abcde"]), ["abcdef"])
    assert.deepStrictEqual(nearest("a".repeat(100), ["a".repeat(99)]), ["a".repeat(99)])
    const began = process.threadCpuUsage()
    assert.deepStrictEqual(nearest("a".repeat(30_000), ["b".repeat(30_000)]), [])
    assert.isBelow(process.threadCpuUsage(began).user / 1000, 1_000)
  })
})
