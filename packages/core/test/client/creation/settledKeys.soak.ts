/** What settled keys cost a create that lost its reply: a folder of 100 000, as a user has it after years. */
import { writeFileSync } from "node:fs"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, lost, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Intent, IntentStore } from "../../../src/client/creation/IntentStore.ts"
import { makeDirectory } from "../../../src/client/creation/IntentFolder.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-settled-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const template: Intent = {
  version: 1,
  key: "template",
  name: "web",
  plan: "P",
  image: "I",
  spec: null,
  newerThan: 7,
  sentAt: { wallMillis: 1, bootMillis: 1, bootClock: null, serviceMillis: 0 },
  fate: "lost",
  nodeId: NodeId.make(1)
}

const namesIn = (path: string) => Effect.promise(() => readdir(path))

describe("a create whose reply is lost", () => {
  /** The shortest of some creates beside so many settled keys, in milliseconds. */
  const minMillisBeside = Effect.fnUntraced(function* (keys: number) {
    const path = yield* folder
    const store = makeDirectory(path)
    yield* store.save(template)
    const settled = join(path, "settled")
    const [period = ""] = yield* namesIn(settled)
    const text = yield* Effect.promise(() => readFile(join(settled, period, "template.json"), "utf8"))
    for (let i = 0; i < keys; i++) {
      const settledIntent = { ...(JSON.parse(text) as Intent), key: `job-${i}`, nodeId: 1000 + i }
      writeFileSync(join(settled, period, `job-${i}.json`), JSON.stringify(settledIntent))
      writeFileSync(join(settled, period, `${1000 + i}.node`), `job-${i}`)
    }
    const nodes: Array<object> = []
    const service = layer(({ body, method, query }) => {
      if (method === "GET") return ok(query["page_no"] === "1" ? nodes : [])
      const { name } = body as { readonly name: string }
      nodes.push(nodeRecord({ id: 1_000_000 + nodes.length, name, plan: "P", created_at: new Date().toISOString() }))
      return lost
    })
    let shortest = Infinity
    for (let i = 0; i < 7; i++) {
      const startedAt = performance.now()
      const creating = Nodes.use((nodes) =>
        nodes.create({ name: `web-${i}`, plan: "P", image: "I" }, { key: `new-${i}` })
      )
      const { outcome } = yield* creating.pipe(
        Effect.provide(service),
        // As a program that starts.
        Effect.provideService(IntentStore, makeDirectory(path))
      )
      assert.strictEqual(outcome, "adopted")
      shortest = Math.min(shortest, performance.now() - startedAt)
    }
    return shortest
  })

  it.live("takes as long beside 100 000 settled keys as beside 100", () =>
    Effect.gen(function* () {
      const [few, many] = [yield* minMillisBeside(100), yield* minMillisBeside(100_000)]
      // To read them all takes hundreds of times as long.
      assert.isBelow(many / few, 5, `${many} ms and ${few} ms`)
    })
  )
})
