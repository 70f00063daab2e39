import { assert, describe, it } from "@effect/vitest"
import { surfaceOf } from "../../src/output/Surface.ts"

const terminal = { isTTY: true, columns: 100 }
const pipe = {}

describe("what a stream can show", () => {
  it.each([
    { stream: terminal, env: {}, colour: true, animate: true },
    { stream: pipe, env: {}, colour: false, animate: false },
    { stream: terminal, env: { noColor: "1" }, colour: false, animate: true },
    { stream: terminal, env: { noColor: "1", forceColor: "1" }, colour: false, animate: true },
    { stream: pipe, env: { forceColor: "1" }, colour: true, animate: false },
    { stream: terminal, env: { forceColor: "0" }, colour: false, animate: true },
    { stream: terminal, env: { noColor: "" }, colour: true, animate: true },
    { stream: pipe, env: { noColor: "1", color: "always" }, colour: true, animate: false },
    { stream: terminal, env: { forceColor: "1", color: "never" }, colour: false, animate: true },
    { stream: terminal, env: { term: "dumb" }, colour: false, animate: false }
  ])("is decided by the stream and the environment: $env", ({ animate, colour, env, stream }) => {
    const surface = surfaceOf(stream, env)
    assert.deepStrictEqual({ colour: surface.colour, animate: surface.animate }, { colour, animate })
  })

  it("is as wide as the terminal, 80 where its width is not known, and without end where it is none", () => {
    assert.deepStrictEqual(
      [terminal, { isTTY: true, columns: 0 }, pipe].map((stream) => surfaceOf(stream, {}).columns),
      [100, 80, Number.POSITIVE_INFINITY]
    )
  })

  it("is as wide as the terminal is now", () => {
    const stream = { isTTY: true, columns: 100 }
    const surface = surfaceOf(stream, {})
    stream.columns = 20
    assert.strictEqual(surface.columns, 20)
  })
})
