import { PassThrough } from "node:stream"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Output } from "../../src/output/Output.ts"

/** The output on a terminal of 40 columns that has 12 columns from the second line on. */
const written = (texts: (output: Output["Service"]) => ReadonlyArray<Effect.Effect<void>>) =>
  Effect.gen(function* () {
    const stderr = Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY: true, columns: 40 })
    const redact = Effect.succeed((text: string) => text)
    yield* Effect.gen(function* () {
      for (const write of texts(yield* Output)) {
        yield* write
        stderr.columns = 12
      }
    }).pipe(Effect.provide(Output.layer({ stdout: new PassThrough(), stderr }, { redact })))
    return String(stderr.read())
  })

const long = "⠋ 3 s  reading the list of nodes"

it.effect("a live line is erased with all the lines that it takes on a terminal that has become narrower", () =>
  Effect.gen(function* () {
    const repainted = yield* written(({ live }) => [live(long), live("⠙ 3 s")])
    assert.strictEqual(repainted, `\r\u001b[2K${long}\r\u001b[2A\u001b[J⠙ 3 s`)
    const noted = yield* written(({ live, note }) => [live(long), note("done")])
    assert.strictEqual(noted, `\r\u001b[2K${long}\r\u001b[2A\u001b[Jdone\n`)
    const removed = yield* written(({ live }) => [live("⠋ 3 s"), live("")])
    assert.strictEqual(removed, "\r\u001b[2K⠋ 3 s\r\u001b[2K")
  })
)
