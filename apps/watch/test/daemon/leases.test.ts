import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { readLeases } from "../../src/daemon/leases.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "leases-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("leases", () => {
  it.effect("are read from their files; what is none is left out, and of several the last counts", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const write = (name: string, text: string) => writeFileSync(join(path, name), text)
      write("a.json", `{ "version": 1, "nodeId": 7, "expiresAt": 1000 }`)
      write("b.json", `{ "version": 1, "nodeId": 7, "expiresAt": 3000 }`)
      write("c.json", `{ "version": 1, "nodeId": 8, "expiresAt": 2000, "pid": 12 }`)
      write("later.json", `{ "version": 2, "nodeId": 9, "expiresAt": 2000 }`)
      write("damaged.json", `{ "version": 1, "nodeId"`)
      write("text.json", `{ "version": 1, "nodeId": "9", "expiresAt": 2000 }`)
      write("d.json.new", `{ "version": 1, "nodeId": 9, "expiresAt": 2000 }`)
      mkdirSync(join(path, "folder.json"))
      expect(yield* readLeases(path)).toEqual(
        new Map([
          [7, 3000],
          [8, 2000]
        ])
      )
    }).pipe(Effect.scoped)
  )

  it.effect("are none where there is no folder", () =>
    Effect.map(readLeases(join(tmpdir(), "no-such-folder", "leases")), (leases) => expect(leases.size).toBe(0))
  )
})
