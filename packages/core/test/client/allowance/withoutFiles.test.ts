/**
 * A client on a platform without `node:fs`, such as a browser.
 */
import { layer, ok } from "@berthkit/core/testing"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { vi } from "vitest"
import { Images } from "../../../src/client/Images.ts"

/** A process with `getBuiltinModule` but without the modules for files. */
const withoutFiles = Layer.effectDiscard(
  Effect.acquireRelease(
    Effect.sync(() => vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)),
    (spy) => Effect.sync(() => spy.mockRestore())
  )
)

it.effect("an allowance file without a file system is reported once, and the calls go on", () => {
  const logged: Array<string> = []
  const client = layer(() => ok([]), { allowanceFile: "/allowance" })
  return Effect.gen(function* () {
    assert.deepStrictEqual(yield* Images.use((images) => images.saved()), [])
    assert.deepStrictEqual(logged, [
      "Cannot share the allowance through /allowance (there is no node:fs here): this client relies only on its own replies."
    ])
  }).pipe(
    Effect.provide(
      client.pipe(
        Layer.provide(withoutFiles),
        Layer.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
      )
    )
  )
})
