import type { Node } from "@berthkit/core/domain/Node"
import { assert, it } from "@effect/vitest"
import { DateTime } from "effect"
import { table } from "../../src/output/table.ts"
import { type NodeChange, nodeChangeRecord } from "../../src/records/nodeChange.ts"

const change = (name: string): NodeChange => ({
  at: DateTime.makeUnsafe(0),
  id: 97_903 as Node["id"],
  name,
  from: "created",
  to: "power-off"
})

it.each([
  [40, ["ID", "FROM", "TO", "NAME"]],
  [32, ["ID", "TO", "NAME"]],
  [80, ["AT", "ID", "FROM", "TO", "NAME"]]
])(
  "a change at %i columns has the name of the node and its new status, in the same columns each time",
  (available, titles) => {
    const lines = [[], [change("web")], [change("a-name-that-is-far-too-long-for-a-terminal")]].map((changes) => {
      const { text } = table(nodeChangeRecord.fields(changes), changes, { available, colour: false })
      return text.trimEnd().split("\n")
    })
    for (const [header, row] of lines) {
      assert.deepStrictEqual(header!.trim().split(/ +/), titles)
      if (row !== undefined) assert.match(row, /power-off {2}(?:web|a-name-.+)$/)
    }
  }
)
