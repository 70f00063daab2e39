/**
 * Any number of settled keys costs nothing to a create whose reply was lost. The test counts file operations instead of time, so that it
 * gives the same result on every machine.
 */
import fs from "node:fs"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, lost, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it, vi } from "@effect/vitest"
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

/** Counts the operations on the file system below a folder from now on, the listed names and the opened bytes. */
const countWork = (folder: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const work = { calls: 0, names: 0, bytes: 0 }
        const add = (call: string, path: string) => {
          work.calls++
          if (/^(opendir|readdir)/.test(call)) work.names += fs.readdirSync(path).length
          else if (/^(open|read)/.test(call)) {
            const about = fs.statSync(path, { throwIfNoEntry: false })
            if (about?.isFile()) work.bytes += about.size
          }
        }
        let isCounting = false
        const spies = [fs, fs.promises].flatMap((functions: object) =>
          Object.entries(functions)
            .filter(([name, value]) => typeof value === "function" && /^[a-z]/.test(name))
            .map(([name, original]) =>
              vi
                .spyOn(functions as Record<string, () => unknown>, name)
                .mockImplementation((...args: Array<unknown>) => {
                  const [path] = args
                  if (!isCounting && typeof path === "string" && path.startsWith(folder)) {
                    // Do not count the operations that the count itself makes.
                    isCounting = true
                    add(name, path)
                    isCounting = false
                  }
                  return Reflect.apply(original, functions, args)
                })
            )
        )
        return { work, spies }
      }),
      ({ spies }) => Effect.sync(() => spies.forEach((spy) => spy.mockRestore()))
    ),
    ({ work }) => work
  )

describe("a create whose reply is lost", () => {
  /** The file operations of a create in a folder with this many settled keys. */
  const workBeside = Effect.fnUntraced(function* (keys: number) {
    const path = yield* folder
    const store = makeDirectory(path)
    yield* store.save(template)
    const settled = join(path, "settled")
    const period = join(settled, (yield* Effect.promise(() => readdir(settled)))[0]!)
    yield* Effect.promise(async () => {
      const intent = JSON.parse(await readFile(join(period, "template.json"), "utf8")) as Intent
      for (let i = 0; i < keys; i++) {
        await writeFile(join(period, `job-${i}.json`), JSON.stringify({ ...intent, key: `job-${i}`, nodeId: 1000 + i }))
        await writeFile(join(period, `${1000 + i}.node`), `job-${i}`)
      }
    })
    const nodes: Array<object> = []
    const service = layer(({ body, method, query }) => {
      if (method === "GET") return ok(query["page_no"] === "1" ? nodes : [])
      const { name } = body as { readonly name: string }
      nodes.push(nodeRecord({ id: 1_000_000, name, plan: "P", created_at: new Date().toISOString() }))
      return lost
    })
    const work = yield* countWork(settled)
    const { outcome } = yield* Nodes.use((nodes) =>
      nodes.create({ name: "web", plan: "P", image: "I" }, { key: "new" })
    ).pipe(
      Effect.provide(service),
      // Use a new store, like a program that starts.
      Effect.provideService(IntentStore, makeDirectory(path))
    )
    assert.strictEqual(outcome, "adopted")
    return work
  }, Effect.scoped)

  it.live("does the same with a thousand settled keys as with ten", () =>
    Effect.gen(function* () {
      const few = yield* workBeside(10)
      assert.isAbove(few.names, 0)
      assert.deepStrictEqual(yield* workBeside(1000), few)
    })
  )
})
