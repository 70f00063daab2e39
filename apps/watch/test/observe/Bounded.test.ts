import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import type { Node } from "@berthkit/core/domain/Node"
import { describe, expect, it } from "@effect/vitest"
import { boundedNode, maxTextLength } from "../../src/observe/Bounded.ts"
import { pageRead } from "../../src/observe/Sweep.ts"

const shown = (over: object): Node =>
  nodeFromWire({ id: 1, name: "web", created_at: "2026-01-01T00:00:00Z", status: "running", ...over }) as Node

const moment = { order: 1, atMillis: 0, monotonicMillis: 0, serviceMillis: null }

describe("a node as it enters the daemon", () => {
  it("is the same where its texts are bounded and well-formed", () => {
    const node = shown({ tags: ["a"], further: { some: "thing" } })
    expect(boundedNode(node)).toBe(node)
  })

  it.each([
    { name: "x".repeat(900_000) },
    { name: `${"x".repeat(maxTextLength - 1)}😀` },
    { name: "half a pair: \ud83d" },
    { status: `odd \udc00 ${"y".repeat(5000)}` },
    { tags: ["\ud83d", "z".repeat(5000), ...Array.from({ length: 1000 }, String)] },
    { further: "z".repeat(900_000) },
    { further: { deep: ["\ud83d"] } },
    { ["\ud83d".repeat(5000)]: 1 }
  ])("has no text that is longer or not well-formed: case %#", (over) => {
    const { nodes } = pageRead({ asked: moment, answered: moment }, [shown(over)], 1, true)
    const json = JSON.stringify(nodes[0])
    expect(json.length).toBeLessThan(5000)
    expect(json).not.toMatch(/\\ud[89a-f]/)
    expect(nodes[0]).toMatchObject({ id: 1 })
  })
})
