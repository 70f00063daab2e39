import { assert, describe, it } from "@effect/vitest"
import type { Node } from "@berthkit/core/domain/Node"
import {
  adopted,
  begun,
  deleting,
  type Entry,
  type Ledger,
  notMade,
  ownedIds,
  ownedOf,
  waitedFor
} from "../../src/fleet/Ledger.ts"
import type { Plan, PlanOptions } from "../../src/fleet/Change.ts"
import { mustBeKnown, planOf, type World } from "../../src/fleet/plan.ts"
import { Account, emptyLedger, fleetOf, groupOf, nodeOf } from "./world.ts"

const seen = ["there", "terminating", "gone", "doubted"] as const
type Seen = (typeof seen)[number]

const [own, old] = [1, 2]
const member = { group: "web", n: 1 }
const pending = { name: "shop-web-1", plan: "small", image: "ubuntu", by: "here", since: "2026-01-01T00:00:00Z" }

/** Every line that a ledger can have for a member, except for its details. */
const entries: ReadonlyArray<Entry> = (["creating", "made", "deleting", "none"] as const).flatMap((state) => {
  const line: Entry = {
    member: "web-1",
    generation: 1,
    state,
    sent: {},
    ...(state === "creating" && { pending }),
    ...((state === "made" || state === "deleting") && { node: ownedOf(nodeOf(own, "shop-web-1")) })
  }
  const previous = ownedOf(nodeOf(old, "shop-web-1"))
  const lines = state === "none" ? [line] : [line, { ...line, previous }, { ...line, previous, previousAsked: true }]
  return lines.flatMap((each) => [each, { ...each, protect: true }])
})

const ledgerWith = (entry: Entry): Ledger => ({ ...emptyLedger, members: new Map([[entry.member, entry]]) })

const worldOf = (ledger: Ledger, states: Readonly<Record<number, Seen>>, plan: string): World => {
  const ids = Array.from(ownedIds(ledger))
  const nodes = ids.flatMap((id): ReadonlyArray<Node> => {
    const state = states[id]!
    if (state === "gone" || state === "doubted") return []
    return [nodeOf(id, "shop-web-1", { plan, status: state === "there" ? "running" : "terminate" })]
  })
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    gone: new Set(ids.filter((id) => states[id] === "gone")),
    elsewhere: new Set(),
    losses: new Map()
  }
}

const counts = [0, 1, 2, null]
const plans = ["small", "large"]
const asked: ReadonlyArray<PlanOptions> = [
  { replace: [], pick: [], isDestroy: false },
  { replace: "all", pick: [], isDestroy: false },
  { replace: [], pick: [], isDestroy: true }
]

/** Calls `check` for every line, observation, file and command. */
const everyRun = (
  check: (run: {
    readonly ledger: Ledger
    readonly world: World
    readonly plan: Plan
    readonly fleet: ReturnType<typeof fleetOf>
    readonly options: PlanOptions
    readonly what: string
  }) => void
) => {
  for (const entry of entries) {
    const ledger = ledgerWith(entry)
    for (const ofOwn of entry.node === undefined ? (["gone"] as const) : seen) {
      for (const ofOld of entry.previous === undefined ? (["gone"] as const) : seen) {
        for (const count of counts) {
          for (const wanted of plans) {
            for (const options of asked) {
              const order = { plan: wanted, image: "ubuntu" }
              const fleet = count === null ? fleetOf() : fleetOf(groupOf("web", count, { order }))
              const world = worldOf(ledger, { [own]: ofOwn, [old]: ofOld }, "small")
              if (entry.state === "creating" && mustBeKnown(fleet, ledger, options, world)(entry)) continue
              const plan = planOf(fleet, ledger, world, options)
              const what = JSON.stringify({ entry, ofOwn, ofOld, count, wanted, options, changes: plan.changes })
              check({ ledger, world, plan, fleet, options, what })
            }
          }
        }
      }
    }
  }
}

describe("a ledger", () => {
  it("keeps every node that is not certainly gone, after each step of every plan for every state", () => {
    everyRun(({ fleet, ledger, options, plan, what, world }) => {
      if (plan.conflicts.length > 0) return
      const kept = Array.from(ownedIds(ledger)).filter((id) => !world.gone.has(id))
      const account = new Account([...world.nodes.values()], ledger)
      account.carryOut(plan, undefined, fleet, options.isDestroy, () => {
        for (const id of kept) assert.isTrue(ownedIds(account.ledger).has(id), `node ${id}: ${what}`)
      })
      // A run that waits knows that the nodes which it deleted are gone, and nothing else.
      for (const change of plan.changes) {
        if (change.action !== "delete") continue
        const ids = new Set([change.node.id, ...(change.old === null ? [] : [change.old.id])].map(Number))
        const after = waitedFor(account.ledger, "web-1", ids)
        for (const id of kept) assert.isTrue(ids.has(id) || ownedIds(after).has(id), `node ${id}, waited: ${what}`)
      }
    })
  })

  it("makes no node for a member while one of its nodes is in doubt", () => {
    everyRun(({ ledger, plan, what, world }) => {
      const isInDoubt = Array.from(ownedIds(ledger)).some((id) => !world.gone.has(id) && !world.nodes.has(id))
      const isMade = plan.changes.some(
        (change) =>
          change.member.n === 1 && (change.action === "create" || change.action === "replace") && !change.isResumed
      )
      assert.isFalse(isInDoubt && isMade, what)
    })
  })

  it("keeps a node whose deletion was requested as the previous one, and asks for it again if it stays", () => {
    const made = adopted(emptyLedger, "web-1", ownedOf(nodeOf(own, "shop-web-1")), false)
    const asked = deleting(made, "web-1")
    const next = begun(asked, member, { pending, sent: {}, protect: false })
    assert.deepInclude(next.members.get("web-1"), { state: "creating", previousAsked: true })
    assert.deepStrictEqual(notMade(next, "web-1").members.get("web-1"), {
      ...asked.members.get("web-1"),
      generation: 2
    })
    const other = adopted(asked, "web-1", ownedOf(nodeOf(7, "shop-web-1")), false).members.get("web-1")
    assert.deepStrictEqual([other?.node?.id, other?.previous?.id, other?.previousAsked], [7, own, true])
  })
})
