import { Script } from "node:vm"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, served } from "../http.ts"

it.live("the script of the page can be run as a module in a document", () =>
  Effect.gen(function* () {
    const { text } = yield* ask((yield* served()).url)
    const [, script = ""] = /<script type="module">([^]*)<\/script>/.exec(text) ?? []
    expect(script.length).toBeGreaterThan(10_000)
    expect(() => new Script(script)).not.toThrow()
  })
)
