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

it.live("the style of the page comes after the shared style that it refines", () =>
  Effect.gen(function* () {
    const { text } = yield* ask((yield* served()).url)
    const [, style = ""] = /<style>([^]*)<\/style>/.exec(text) ?? []
    const [shared, own] = [style.indexOf("\n.sheet {"), style.indexOf("\n.nodes,\n.timeline {")]
    expect(shared).toBeGreaterThan(0)
    expect(own).toBeGreaterThan(shared)
  })
)
