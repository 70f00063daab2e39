/**
 * Tests a failed attempt to delete a node that Berth itself has chosen. Between two attempts, another node may get the id, or the node's
 * replacement may be switched off. So Berth reads the node again before each attempt.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Altered, alteredService, plan } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"

const deletes = ["--yes", "--max-deletes", "9"]

/** A fleet of one node. The first delete fails, and then `meanwhile` runs. */
const troubled = Effect.fnUntraced(function* (meanwhile: (service: Altered) => void) {
  const { account, service } = yield* alteredService
  const fleet = yield* hurriedFolderOf(account)
  fleet.write(webs(1))
  yield* fleet.apply("--yes")
  service.failing = 1
  service.onFailed = () => meanwhile(service)
  const sent = () => service.requests.filter((request) => request.startsWith("DELETE")).length
  return { fleet, sent, service }
})

describe("a delete of a fleet whose first attempt failed", () => {
  it.live("is sent again to the same node", () =>
    Effect.gen(function* () {
      const { fleet, sent, service } = yield* troubled(() => {})
      const ended = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
      assert.deepStrictEqual([ended.code, sent(), service.nodes.length], [0, 2, 0], ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is sent again if one read denies the node, which is there", () =>
    Effect.gen(function* () {
      const { fleet, sent, service } = yield* troubled((service) => {
        const [node] = service.nodes.splice(0)
        service.onRequest = (request) => {
          if (request !== "GET /nodes/1000/") return
          service.onRequest = () => undefined
          // Add the node once this read is answered.
          queueMicrotask(() => service.nodes.push(node!))
        }
      })
      const ended = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
      assert.deepStrictEqual([ended.code, sent(), service.nodes.length], [0, 2, 0], ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is over if the node is gone", () =>
    Effect.gen(function* () {
      const { fleet, sent } = yield* troubled(({ nodes }) => void nodes.splice(0))
      const ended = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
      assert.deepStrictEqual([ended.code, sent()], [0, 1], ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is not sent to another node that has the id by then", () =>
    Effect.gen(function* () {
      const { fleet, sent, service } = yield* troubled(({ nodes }) => {
        nodes[0] = { ...nodes[0]!, name: "theirs", created_at: "2020-01-01T00:00:00Z" }
      })
      const ended = yield* fleet.run(["destroy", "-f", fleet.file, "--yes"])
      assert.deepStrictEqual([ended.code, sent(), service.nodes.length], [9, 1, 1], ended.stderr)
      assert.include(ended.stderr, "is named theirs now")
    }).pipe(Effect.scoped)
  )

  it.live("is not sent while the node that replaces it does not run", () =>
    Effect.gen(function* () {
      const { fleet, sent, service } = yield* troubled(({ nodes }) => {
        nodes[1] = { ...nodes[1]!, status: "power-off" }
      })
      service.failing = 2
      fleet.write(webs(1, plan, ", tags: [b]"))
      const ended = yield* fleet.apply(...deletes, "--replace", "all")
      assert.strictEqual(ended.code, 9, ended.stderr)
      assert.isBelow(sent(), 3)
      assert.strictEqual(service.nodes.length, 2)
    }).pipe(Effect.scoped)
  )
})

describe("the delete of a run whose first attempt failed", () => {
  it.live("is not sent to another node that has the id by then", () =>
    Effect.gen(function* () {
      const { fleet, sent, service } = yield* troubled(({ nodes }) => {
        nodes[1] = { ...nodes[1]!, name: "theirs", created_at: "2020-01-01T00:00:00Z" }
      })
      const order = ["--plan", plan, "--image", "Ubuntu-24.04", "--no-public-ip"]
      const ended = yield* fleet.run(["run", ...order, "--yes", "--", "true"])
      assert.notStrictEqual(ended.code, 0, ended.stderr)
      assert.deepStrictEqual([sent(), service.nodes.length], [1, 2], ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is sent again if the service falsely denies the node", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      const { nodes, requests } = service
      let hidden: typeof nodes = []
      service.onRequest = (request) => {
        nodes.push(...hidden.splice(0))
        const isFirst = requests.filter((each) => each === request).length === 1
        if (isFirst && request.startsWith("DELETE")) hidden = nodes.splice(0)
      }
      const order = ["--plan", plan, "--image", "Ubuntu-24.04", "--no-public-ip"]
      const ended = yield* fleet.run(["run", ...order, "--yes", "--", "true"])
      assert.deepStrictEqual([ended.code, nodes.length, hidden.length], [0, 0, 0], ended.stderr)
    }).pipe(Effect.scoped)
  )
})
