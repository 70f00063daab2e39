import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { WatchedNode } from "../../src/http/records.ts"
import { believedNodes, type LastGood, targetGroups } from "../../src/http/targets.ts"
import { aNode } from "../diff/aNode.ts"
import { ask, served } from "./http.ts"
import { anAccount } from "./memoryDaemon.ts"

const watched = (id: number, rest: Partial<WatchedNode> = {}): WatchedNode => ({
  ...aNode({ id, publicIp: `203.0.113.${id}` }),
  account: "default",
  statusSince: null,
  ...rest
})

const sweptAt = (millis: number) => ({
  lastSweep: { endedAt: DateTime.makeUnsafe(millis), durationMillis: 1, requests: 1 }
})

const noneYet: LastGood = new Map()
const now = 1_000_000
const fresh = anAccount(sweptAt(now - 1000))

const idsOf = (nodes: ReadonlyArray<WatchedNode> | null) => nodes?.map(({ id }) => Number(id)) ?? null

describe("the targets", () => {
  it("of an account in doubt stay those of its last good list, however it is in doubt", () => {
    const { lastGood, nodes } = believedNodes(noneYet, [fresh], [watched(1), watched(2)], now)
    expect(idsOf(nodes)).toEqual([1, 2])
    for (const doubtful of [
      anAccount({ ...fresh, state: "frozen" }),
      anAccount({ ...fresh, state: "degraded" }),
      anAccount({ ...fresh, state: "starting" }),
      anAccount(sweptAt(now - 60_001))
    ]) {
      const later = believedNodes(lastGood, [doubtful], [], now)
      expect(idsOf(later.nodes)).toEqual([1, 2])
      expect(idsOf(believedNodes(later.lastGood, [doubtful], [watched(2)], now).nodes)).toEqual([1, 2])
      expect(idsOf(believedNodes(later.lastGood, [fresh], [watched(2)], now).nodes)).toEqual([2])
    }
  })

  it("are unknown where no list was ever good, and those of the store after a restart", () => {
    expect(believedNodes(noneYet, [anAccount()], [], now).nodes).toBe(null)
    expect(believedNodes(noneYet, [], [], now).nodes).toBe(null)
    expect(idsOf(believedNodes(noneYet, [anAccount()], [watched(1)], now).nodes)).toEqual([1])
    expect(believedNodes(noneYet, [fresh, anAccount({ account: "new" })], [watched(1)], now).nodes).toBe(null)
  })

  it("of an added account do not delay the others, and are the known ones", () => {
    const added = anAccount({ account: "new", added: true })
    expect(idsOf(believedNodes(noneYet, [fresh, added], [watched(1)], now).nodes)).toEqual([1])
    const nodes = [watched(1), watched(2, { account: "new" })]
    const { lastGood } = believedNodes(noneYet, [fresh, added], nodes, now)
    for (const state of ["paused", "degraded"] as const) {
      expect(idsOf(believedNodes(lastGood, [fresh, { ...added, state }], [watched(1)], now).nodes)).toEqual([1, 2])
    }
  })

  it("are none where an account surely has none", () => {
    expect(believedNodes(noneYet, [fresh], [], now).nodes).toEqual([])
  })

  it("of one account in doubt leave those of another as they are", () => {
    const other = { ...fresh, account: "other" }
    const both = [watched(1), watched(2, { account: "other" })]
    const { lastGood } = believedNodes(noneYet, [fresh, other], both, now)
    const frozen = { ...other, state: "frozen" as const }
    expect(idsOf(believedNodes(lastGood, [fresh, frozen], [watched(3)], now).nodes)).toEqual([3, 2])
  })

  it("have the address that is asked for, with labels, and leave out a node without it", () => {
    const nodes = [watched(1, { privateIp: "10.0.0.1" }), watched(2, { publicIp: "2001:db8::2", plan: null })]
    expect(targetGroups(nodes, { address: "private", port: 9100 })).toEqual([
      {
        targets: ["10.0.0.1:9100"],
        labels: { account: "default", node: "node-1", node_id: "1", plan: "A-1VCPU-1RAM-15DISK", region: "ncr" }
      }
    ])
    expect(targetGroups(nodes, { address: "public", port: 80 }).flatMap(({ targets }) => targets)).toEqual([
      "203.0.113.1:80",
      "[2001:db8::2]:80"
    ])
  })
})

describe("/sd", () => {
  it.live("is what http_sd_configs takes: JSON, a list of targets and labels, of nodes that run; an error before", () =>
    Effect.gen(function* () {
      const { put, state, url } = yield* served()
      expect((yield* ask(`${url}/sd`)).status).toBe(503)
      const time = "2026-03-01T10:00:00.000Z"
      put(aNode({ id: 1, publicIp: "203.0.113.1", plan: "small" }), time)
      put(aNode({ id: 2, publicIp: "203.0.113.2", status: "power-off" }), time)
      state.accounts = [anAccount({ lastSweep: { endedAt: yield* DateTime.now, durationMillis: 1, requests: 1 } })]
      const reply = yield* ask(`${url}/sd`)
      expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"])
      expect(reply.json).toEqual([
        {
          targets: ["203.0.113.1:9100"],
          labels: { account: "default", node: "node-1", node_id: "1", plan: "small", region: "ncr" }
        }
      ])
      state.accounts = [...state.accounts, anAccount({ account: "new" })]
      expect((yield* ask(`${url}/sd`)).status).toBe(503)
      expect((yield* ask(`${url}/sd?account=default`)).json).toEqual(reply.json)
      expect((yield* ask(`${url}/sd?account=other`)).status).toBe(404)
      state.accounts = state.accounts.slice(0, 1)
      expect((yield* ask(`${url}/sd?port=9256`)).json[0].targets).toEqual(["203.0.113.1:9256"])
      state.accounts = [{ ...state.accounts[0]!, state: "frozen" }]
      state.nodes.clear()
      expect((yield* ask(`${url}/sd`)).json).toEqual(reply.json)
    })
  )

  it.live("reads the nodes anew where something has happened, and not at each scrape", () =>
    Effect.gen(function* () {
      const { put, state, url } = yield* served()
      const time = "2026-03-01T10:00:00.000Z"
      state.accounts = [anAccount({ lastSweep: { endedAt: yield* DateTime.now, durationMillis: 1, requests: 1 } })]
      const targets = Effect.map(ask(`${url}/sd`), ({ json }) => json.length)
      put(aNode({ id: 1, publicIp: "203.0.113.1" }), time)
      expect([yield* targets, yield* targets, yield* targets, state.nodeReads]).toEqual([1, 1, 1, 1])
      put(aNode({ id: 2, publicIp: "203.0.113.2" }), time)
      expect([yield* targets, yield* targets, state.nodeReads]).toEqual([2, 2, 2])
    })
  )
})
