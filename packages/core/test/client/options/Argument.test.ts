import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import fc from "fast-check"
import { inspect } from "node:util"
import { argument, type Shape } from "../../../src/client/options/Argument.ts"
import { imageFilterShape } from "../../../src/client/Images.ts"
import { nodeSpecShape } from "../../../src/client/NodeOperations.ts"
import { ImageFilter } from "../../../src/domain/Image.ts"
import { NodeSpec } from "../../../src/domain/NodeSpec.ts"

/** Values that some fields accept, and close misses. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    "",
    " \t",
    "ncr",
    "public",
    "n".repeat(255),
    "n".repeat(256),
    undefined,
    null,
    true,
    0,
    -1,
    1.5
  ),
  fc.constantFrom<unknown>(Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, [], ["a"], ["a", 1], [undefined], {}, 7n),
  fc.string(),
  fc.integer(),
  fc.array(fc.string())
)

/** Objects with some fields of the schema, most of them right, and sometimes with an unknown field. */
const near = (names: ReadonlyArray<string>, right: Readonly<Record<string, unknown>>) =>
  fc
    .tuple(
      fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 4 }),
      fc.option(fc.dictionary(fc.constantFrom("cpu", "constructor", "toString", "__proto__"), value, { maxKeys: 1 }), {
        freq: 4,
        nil: {}
      })
    )
    .map(([some, unknown]) => ({ ...right, ...some, ...unknown }))

const pairs: ReadonlyArray<
  readonly [name: string, Shape<unknown>, Schema.Struct<Schema.Struct.Fields>, Readonly<Record<string, unknown>>]
> = [
  ["NodeSpec", nodeSpecShape, NodeSpec, { name: "web", plan: "P", image: "I" }],
  ["ImageFilter", imageFilterShape, ImageFilter, {}]
]

describe("the check of an argument", () => {
  for (const [name, shape, schema, right] of pairs) {
    it(`accepts and refuses the same as the schema of ${name}`, () => {
      const check = argument(shape, "argument")
      const decode = Schema.decodeUnknownOption(schema as unknown as Schema.Decoder<unknown>, {
        onExcessProperty: "error"
      })
      let taken = 0
      fc.assert(
        fc.property(near(Object.keys(schema.fields), right), (input) => {
          const decoded = decode(input)
          const checked = Effect.runSyncExit(check(input))
          assert.strictEqual(checked._tag === "Success", decoded._tag === "Some", inspect(input))
          if (Exit.isSuccess(checked)) {
            taken++
            const given = Object.entries(input).filter(([, value]) => value !== undefined)
            assert.deepStrictEqual(checked.value, Object.fromEntries(given))
          }
        }),
        { numRuns: 500 }
      )
      assert.isAbove(taken, 20)
    })
  }

  it("returns a copy, which later changes of the caller do not affect", () => {
    const spec = { name: "web", plan: "P", image: "I", tags: ["a"] }
    const checked = Effect.runSync(argument(nodeSpecShape, "spec")(spec))
    spec.name = "db"
    spec.tags.push("b")
    assert.deepStrictEqual(checked, { name: "web", plan: "P", image: "I", tags: ["a"] })
  })

  it("names the place of each fault, in lists with holes and fields with any name, too", () => {
    // oxlint-disable-next-line no-sparse-arrays
    const spec = { name: "web", plan: "P", image: "I", tags: ["a", , "b"], constructor: 1 }
    const error = Effect.runSync(Effect.flip(argument(nodeSpecShape, "spec")(spec)))
    assert.deepStrictEqual(error.fields, {
      "tags[1]": ["expected a text"],
      constructor: ["there is no such field"]
    })
  })
})

describe("further fields of a create", () => {
  const check = argument(nodeSpecShape, "spec")
  const withExtra = (extra: unknown) => Effect.runSyncExit(check({ name: "web", plan: "P", image: "I", extra }))
  const itself: Record<string, unknown> = {}
  itself["again"] = itself

  it("are values of JSON, and are copied", () => {
    const extra = { subnet_id: 12, note: "a", flags: [true, null, { deep: [1.5] }] }
    const exit = withExtra(extra)
    assert(Exit.isSuccess(exit))
    assert.deepStrictEqual(exit.value.extra, extra)
    assert.notStrictEqual(exit.value.extra?.["flags"], extra.flags)
  })

  for (const value of [undefined, Number.NaN, 7n, Symbol("a"), () => 1, new Date(0), new Map(), itself]) {
    it(`are refused if JSON has no such value: ${inspect(value)}`, () => {
      assert.isTrue(Exit.isFailure(withExtra({ given: value })))
      assert.isTrue(Exit.isFailure(withExtra({ given: [{ deep: value }] })))
    })
  }

  for (const name of ["name", "ssh_keys", "cn_id", "disk", "is_saved_image", "number_of_instances", "start_scripts"]) {
    it(`are not those that Berth sets: ${name}`, () => {
      const error = Effect.runSync(Effect.flip(check({ name: "web", plan: "P", image: "I", extra: { [name]: 1 } })))
      assert.deepStrictEqual(Object.keys(error.fields), [`extra.${name}`])
    })
  }
})
