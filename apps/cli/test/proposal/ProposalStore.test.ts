import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Connection } from "@berthkit/terminal/Connection"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, ProposalStore } from "../../src/proposal/ProposalStore.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-proposals-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** Of the connection it is only asked where the files of its account are. */
const connection = { files: { commitments: join(folder, "accounts/one/commitments.json") } } as Connection

/** As another process has it. */
const store = Effect.provide(ProposalStore, ProposalStore.layer(connection))

describe("the answers to a proposal", () => {
  it.live("are one, where two windows answer at once", () =>
    Effect.gen(function* () {
      const windows = [yield* store, yield* store] as const
      for (let time = 0; time < 4; time++) {
        const answers: ReadonlyArray<Answer> = time % 2 === 0 ? ["approved", "declined"] : ["declined", "approved"]
        const [first, second] = yield* Effect.forEach(
          windows,
          ({ answer }, at) => answer(`p${time}`, answers[at] ?? "declined"),
          { concurrency: 2 }
        )
        assert.strictEqual(first, second)
      }
    })
  )
})
