import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { csvWriter } from "../../src/output/csv.ts"
import { Output } from "../../src/output/Output.ts"
import { jsonOf, type RecordDescriptor } from "../../src/output/RecordDescriptor.ts"

const Priced = Schema.Struct({ name: Schema.String, tags: Schema.Array(Schema.String), change: Schema.Number })
type Priced = typeof Priced.Type

const priced: RecordDescriptor<Priced> = {
  ...jsonOf(Priced),
  fields: () => [
    { key: "name", title: "NAME", value: ({ name }) => name },
    { key: "tags", title: "TAGS", value: ({ tags }) => tags.join(" ") },
    { key: "change", title: "CHANGE", value: ({ change }) => String(change) },
    { key: "trend", title: "TREND", value: () => "-", computed: true }
  ],
  none: "no prices"
}

/** The CSV of records with these names, without its header. */
const written = (names: ReadonlyArray<string>, raw: boolean, columns: ReadonlyArray<string> = ["name"]) =>
  Effect.gen(function* () {
    const stdout = new PassThrough({ encoding: "utf8" })
    const redact = Effect.succeed((text: string) => text)
    const records = names.map((name) => ({ name, tags: ["-x"], change: -1.5 }))
    yield* csvWriter
      .list(priced, records, { columns, header: false, raw })
      .pipe(Effect.provide(Output.layer({ stdout, stderr: new PassThrough() }, { redact })))
    return String(stdout.read())
  })

describe("a cell of CSV", () => {
  it.effect.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["-", "'-"],
    ["@SUM(B2)", "'@SUM(B2)"],
    ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
    ["\t=1", "'\\t=1"],
    ["\r=1", "'\\r=1"],
    [" =1", "' =1"],
    ["＝1+1", "'＝1+1"],
    ["a=1", "a=1"],
    ["'=1", "'=1"],
    ["web-1", "web-1"]
  ] as const)("that a spreadsheet would run has an apostrophe in front: %j", ([name, cell]) =>
    Effect.map(written([name], false), (text) => assert.strictEqual(text, `${cell}\n`))
  )

  it.effect("is the text as it is with raw, but for line feeds and control codes", () =>
    Effect.map(written(["=1+1", "@x", "-1", "\t=1", "a,b"], true), (text) =>
      assert.strictEqual(text, '=1+1\n@x\n-1\n\\t=1\n"a,b"\n')
    )
  )

  it.effect("that is a number or a list is no formula, and a missing value is empty", () =>
    Effect.map(written(["web"], false, ["all"]), (text) => assert.strictEqual(text, 'web,"[""-x""]",-1.5,\n'))
  )
})
