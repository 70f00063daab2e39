import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { adopted, entriesOf, ownedIds, ownedOf } from "../../src/fleet/Ledger.ts"
import { deletesOf, isEqual, isIdle, type LoadedFleet, type Plan, type PlanOptions } from "../../src/fleet/Change.ts"
import { mustBeKnown, planOf } from "../../src/fleet/plan.ts"
import { planPrice } from "../../src/fleet/planPrice.ts"
import { Account, emptyLedger, fleetOf, groupOf, nodeOf, prices } from "./world.ts"

const options: PlanOptions = { replace: [], pick: [], isDestroy: false }

const actionsOf = ({ changes }: Plan) => changes.map(({ action, member }) => `${action} ${member.group}-${member.n}`)

/** An account whose nodes are members already. */
const withMembers = (
  members: Readonly<Record<string, Parameters<typeof nodeOf>[2]>>,
  ...foreign: ReadonlyArray<string>
) => {
  let ledger = emptyLedger
  const nodes = Object.entries(members).map(([member, fields], i) => {
    const node = nodeOf(i + 1, `shop-${member}`, fields)
    ledger = adopted(ledger, member, ownedOf(node), false)
    return node
  })
  return new Account([...nodes, ...foreign.map((name, i) => nodeOf(100 + i, name))], ledger)
}

describe("a plan", () => {
  it("creates missing members with the lowest free numbers", () => {
    const account = withMembers({ "web-2": {} })
    const plan = planOf(fleetOf(groupOf("web", 3)), account.ledger, account.world, options)
    assert.sameMembers(actionsOf(plan), ["unchanged web-2", "create web-1", "create web-3"])
  })

  it("deletes the picked members first, then the highest number", () => {
    const account = withMembers({ "web-1": {}, "web-2": {}, "web-3": {} })
    const fleet = fleetOf(groupOf("web", 2))
    assert.sameMembers(actionsOf(planOf(fleet, account.ledger, account.world, options)), [
      "unchanged web-1",
      "unchanged web-2",
      "delete web-3"
    ])
    assert.sameMembers(actionsOf(planOf(fleet, account.ledger, account.world, { ...options, pick: ["web-1"] })), [
      "delete web-1",
      "unchanged web-2",
      "unchanged web-3"
    ])
  })

  it("refuses to pick a member if the group has none too many", () => {
    const account = withMembers({ "web-1": {} })
    const { conflicts } = planOf(fleetOf(groupOf("web", 1)), account.ledger, account.world, {
      ...options,
      pick: ["web-1"]
    })
    assert.deepStrictEqual(
      conflicts.map(({ kind }) => kind),
      ["usage"]
    )
  })

  it("does not create a second node if a node of that name is not in the ledger", () => {
    const account = withMembers({}, "shop-web-1")
    const { changes, conflicts } = planOf(fleetOf(groupOf("web", 1)), account.ledger, account.world, options)
    assert.deepStrictEqual(changes, [])
    assert.deepStrictEqual(
      conflicts.map(({ message }) => message),
      [
        "shop-web-1 exists (id 100) and is not in the ledger: `berth fleet adopt 100 --as web-1`, or choose another name."
      ]
    )
  })

  it("never deletes a node that the file protects or, once its group has left the file, the ledger", () => {
    const account = withMembers({ "db-1": {}, "db-2": {} })
    const inFile = planOf(fleetOf(groupOf("db", 1, { protect: true })), account.ledger, account.world, options)
    assert.sameMembers(actionsOf(inFile), ["unchanged db-1", "kept db-2"])
    const ledger = adopted(emptyLedger, "db-1", ownedOf(nodeOf(1, "shop-db-1")), true)
    assert.deepStrictEqual(actionsOf(planOf(fleetOf(), ledger, account.world, options)), ["kept db-1"])
    assert.deepStrictEqual(actionsOf(planOf(fleetOf(), ledger, account.world, { ...options, isDestroy: true })), [
      "kept db-1"
    ])
  })

  it("leaves nodes alone that are neither listed nor certainly gone", () => {
    const account = withMembers({ "web-1": {}, "web-2": {} })
    account.nodes.clear()
    const hidden = { nodes: new Map(), gone: new Set<number>(), elsewhere: new Set<number>(), losses: new Map() }
    for (const count of [0, 2, 5]) {
      const plan = planOf(fleetOf(groupOf("web", count)), account.ledger, hidden, options)
      assert.strictEqual(deletesOf(plan), 0)
      assert.isFalse(plan.changes.some((change) => change.action === "create" && change.member.n <= 2))
    }
  })

  it("finishes the replacement of an earlier run only if the user says so, because only the old node may do the work", () => {
    const account = withMembers({ "web-1": {} })
    const old = ownedOf(account.nodes.values().next().value!)
    const bigger = fleetOf(groupOf("web", 1, { order: { plan: "large", image: "ubuntu" } }))
    const replace = { ...options, replace: "all" as const }
    // The run is killed after it has made the new node.
    account.carryOut(planOf(bigger, account.ledger, account.world, replace), 4)
    for (const fleet of [bigger, fleetOf(groupOf("web", 1))]) {
      const plan = planOf(fleet, account.ledger, account.world, options)
      assert.deepStrictEqual([actionsOf(plan), isIdle(plan), isEqual(plan)], [["differs web-1"], true, false])
      assert.strictEqual(planPrice(plan, prices).now.pricePerHourInr, 6.46 + 12.92)
    }
    account.carryOut(planOf(bigger, account.ledger, account.world, replace))
    assert.deepStrictEqual(account.deleted, [old.id])
  })

  it("deletes both nodes of a member that is given up while it is replaced, also where a delete is killed or comes to nothing", () => {
    const bigger = fleetOf(groupOf("web", 1, { order: { plan: "large", image: "ubuntu" } }))
    for (const maxSteps of [0, 1, 2, 3, 4, 5]) {
      const account = withMembers({ "web-1": {} }, "other")
      account.carryOut(planOf(bigger, account.ledger, account.world, { ...options, replace: "all" }), 4)
      const gone = planOf(fleetOf(), account.ledger, account.world, options)
      assert.deepStrictEqual([actionsOf(gone), deletesOf(gone)], [["delete web-1"], 2])
      assert.strictEqual(planPrice(gone, prices).differencePerHourInr, -19.38)
      account.carryOut(gone, maxSteps)
      for (let run = 0; run < 3; run++) account.carryOut(planOf(fleetOf(), account.ledger, account.world, options))
      assert.deepStrictEqual(
        Array.from(account.nodes.values(), ({ name }) => name),
        ["other"],
        String(maxSteps)
      )
      assert.isTrue(isEqual(planOf(fleetOf(), account.ledger, account.world, options)))
      // The delete of the old node was accepted, but the node is still there.
      const stubborn = withMembers({ "web-1": {} })
      const [old] = stubborn.nodes.values()
      stubborn.carryOut(planOf(bigger, stubborn.ledger, stubborn.world, { ...options, replace: "all" }), 4)
      stubborn.carryOut(planOf(fleetOf(), stubborn.ledger, stubborn.world, options), maxSteps)
      stubborn.nodes.set(old!.id, old!)
      for (let run = 0; run < 3; run++) stubborn.carryOut(planOf(fleetOf(), stubborn.ledger, stubborn.world, options))
      assert.deepStrictEqual([...stubborn.nodes], [], String(maxSteps))
    }
  })

  it("keeps the line of a replaced node that is neither there nor certainly gone, although its successor is gone", () => {
    const account = withMembers({ "web-1": {} })
    const bigger = fleetOf(groupOf("web", 1, { order: { plan: "large", image: "ubuntu" } }))
    account.carryOut(planOf(bigger, account.ledger, account.world, { ...options, replace: "all" }), 4)
    const { node } = account.ledger.members.get("web-1")!
    for (const count of [0, 1]) {
      const world = { nodes: new Map(), gone: new Set([node!.id]), elsewhere: new Set<number>(), losses: new Map() }
      assert.deepStrictEqual(actionsOf(planOf(fleetOf(groupOf("web", count)), account.ledger, world, options)), [
        "doubted web-1"
      ])
    }
  })

  it("commits no node that differs from the file, also while the one that it replaced is going", () => {
    const account = withMembers({ "web-1": {} })
    const [old] = account.nodes.values()
    const bigger = fleetOf(groupOf("web", 1, { order: { plan: "large", image: "ubuntu" } }))
    account.carryOut(planOf(bigger, account.ledger, account.world, { ...options, replace: "all" }), 5)
    account.nodes.set(old!.id, { ...old!, status: "terminate" })
    const commitment = { setting: "auto_renew", days: 30 } as const
    const planned = (plan: string) =>
      actionsOf(
        planOf(
          fleetOf(groupOf("web", 1, { order: { plan, image: "ubuntu" }, commitment })),
          account.ledger,
          account.world,
          options
        )
      )
    assert.deepStrictEqual(planned("small"), ["differs web-1"])
    assert.deepStrictEqual(planned("large"), ["commit web-1"])
  })

  it("waits for an open create that is no longer wanted, protected or not", () => {
    const fleet = fleetOf(groupOf("web", 1, { protect: true }))
    const account = new Account([])
    account.carryOut(planOf(fleet, account.ledger, account.world, options), 2)
    const { conflicts } = planOf(fleetOf(), account.ledger, account.world, options)
    assert.deepStrictEqual(
      conflicts.map(({ kind }) => kind),
      ["conflict"]
    )
  })

  it("first finds the outcome of a replacement that was sent before its member was protected", () => {
    const account = withMembers({ "web-1": {} })
    const order = { plan: "large", image: "ubuntu" }
    account.carryOut(
      planOf(fleetOf(groupOf("web", 1, { order })), account.ledger, account.world, { ...options, replace: "all" }),
      2
    )
    const entry = account.ledger.members.get("web-1")!
    assert.strictEqual(entry.state, "creating")
    for (const protect of [false, true]) {
      const fleet = fleetOf(groupOf("web", 1, { order, protect }))
      assert.strictEqual(mustBeKnown(fleet, account.ledger, { ...options, replace: "all" })(entry), protect)
    }
    // --replace would be refused again, so the hint does not name it.
    const kept = fleetOf(groupOf("web", 1, { order, protect: true }))
    const { conflicts } = planOf(kept, account.ledger, account.world, { ...options, replace: "all" })
    assert.notInclude(conflicts[0]?.hint, "--replace")
    assert.include(conflicts[0]?.hint, "eleven minutes")
  })

  it("reverts a replacement if the file is as before: keeps the old node, and deletes the new one", () => {
    const account = withMembers({ "web-1": {} })
    const [old] = account.nodes.values()
    const bigger = fleetOf(groupOf("web", 1, { order: { plan: "large", image: "ubuntu" } }))
    const replace = { ...options, replace: "all" as const }
    account.carryOut(planOf(bigger, account.ledger, account.world, replace), 4)
    assert.lengthOf([...account.nodes], 2)
    const fleet = fleetOf(groupOf("web", 1))
    for (const maxSteps of [0, 1, 2, 3, 4]) {
      const one = new Account([...account.nodes.values()], account.ledger)
      one.run(fleet, replace, maxSteps)
      one.run(fleet, replace)
      assert.deepStrictEqual([...one.nodes.keys()], [old!.id], String(maxSteps))
      assert.isTrue(isEqual(planOf(fleet, one.ledger, one.world, options)))
    }
  })

  it("replaces only named members, whatever differs", () => {
    const account = withMembers({ "web-1": { plan: "large" }, "web-2": { plan: "large" } })
    const fleet = fleetOf(groupOf("web", 2))
    assert.deepStrictEqual(actionsOf(planOf(fleet, account.ledger, account.world, options)), [
      "differs web-1",
      "differs web-2"
    ])
    assert.deepStrictEqual(
      actionsOf(planOf(fleet, account.ledger, account.world, { ...options, replace: ["web-2"] })),
      ["differs web-1", "replace web-2"]
    )
  })
})

const groups = fc.uniqueArray(
  fc.record({
    group: fc.constantFrom("web", "db", "job"),
    count: fc.integer({ min: 0, max: 4 }),
    plan: fc.constantFrom("small", "large"),
    tags: fc.constantFrom<ReadonlyArray<string> | undefined>(undefined, [], ["a", "b"], ["b", "a"], ["c"]),
    name: fc.constantFrom("shop", "market"),
    protect: fc.boolean()
  }),
  { selector: ({ group }) => group }
)

const fleetFrom = (found: typeof groups extends fc.Arbitrary<infer A> ? A : never) =>
  fleetOf(
    ...found.map(({ count, group, name, plan, protect, tags }) =>
      groupOf(group, count, {
        protect,
        nameOf: (n) => `${name}-${group}-${n}`,
        order: { plan, image: "ubuntu", ...(tags && { tags }) }
      })
    )
  )

/** A run that checks its plan: the run sends only what the plan shows, and deletes no protected node. */
const checkedRun = (account: Account, fleet: LoadedFleet, options: PlanOptions, maxSteps?: number): Plan => {
  account.resolve(fleet, options)
  const before = new Map(account.ledger.members)
  const deletedBefore = account.deleted.length
  const plan = account.run(fleet, options, maxSteps)
  const groupOf = (member: string) => fleet.groups.find(({ group }) => member.startsWith(`${group}-`))
  for (const change of plan.changes) {
    if (change.action !== "create" && (change.action !== "replace" || change.made !== null)) continue
    if (!change.isResumed) continue
    const { pending, sent } = before.get(`${change.member.group}-${change.member.n}`)!
    assert.strictEqual(pending!.plan, change.group.order.plan)
    assert.strictEqual(pending!.name, change.group.nameOf(change.member.n))
    assert.sameMembers([...((sent!["tags"] as Array<string>) ?? [])], [...(change.group.order.tags ?? [])])
  }
  const owners = new Map(
    Array.from(before.values()).flatMap((entry) =>
      [entry.node, entry.previous].flatMap((owned) => (owned === undefined ? [] : [[owned.id, entry] as const]))
    )
  )
  for (const id of account.deleted.slice(deletedBefore)) {
    const entry = owners.get(id)!
    assert.isNotTrue(entry.protect, entry.member)
    assert.isNotTrue(groupOf(entry.member)?.protect, entry.member)
  }
  return plan
}

describe("carried out", () => {
  it("makes the members those of the file, touches nothing else, deletes no more than it says, and changes the price by what it says", () => {
    fc.assert(
      fc.property(
        groups,
        groups,
        groups,
        fc.array(fc.nat({ max: 20 })),
        fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 12 })),
        fc.constantFrom<PlanOptions["replace"]>("all", []),
        (before, between, after, lost, [firstSteps, maxSteps], replace) => {
          const foreign = [nodeOf(1, "other"), nodeOf(2, "shop-web-9", { plan: "tiny" })]
          const account = new Account(foreign)
          checkedRun(account, fleetFrom(before), options)
          // Some nodes are lost, and killed runs have carried out a part of this file or of another one.
          const own = Array.from(ownedIds(account.ledger))
          for (const at of lost) account.nodes.delete(own[at] ?? 0)
          checkedRun(account, fleetFrom(between), { ...options, replace }, firstSteps)
          const fleet = fleetFrom(after)
          checkedRun(account, fleet, { ...options, replace }, maxSteps)

          account.resolve(fleet, { ...options, replace })
          const plan = planOf(fleet, account.ledger, account.world, { ...options, replace })
          assert.deepStrictEqual(plan.conflicts, [])
          const idsBefore = [...ownedIds(account.ledger), ...Array.from(account.unanswered.values(), ({ id }) => id)]
          const open = Array.from(account.unanswered.values(), ({ id }) => id)
          const deletedBefore = account.deleted.length
          const costBefore = account.costOf(idsBefore.filter((id) => !open.some((each) => each === id)))
          const madeBefore = new Set(account.nodes.keys())
          checkedRun(account, fleet, { ...options, replace })
          assert.strictEqual(account.deleted.length - deletedBefore, deletesOf(plan))
          const made = Array.from(account.nodes.keys()).filter((id) => !madeBefore.has(id))
          const costAfter = account.costOf(new Set([...idsBefore, ...made]))
          assert.closeTo(planPrice(plan, prices).differencePerHourInr!, costAfter - costBefore, 1e-6)
          for (const { id } of foreign) assert.isTrue(account.nodes.has(id))

          // A node that the file no longer protects is deleted in the run after that.
          checkedRun(account, fleet, { ...options, replace })
          const again = planOf(fleet, account.ledger, account.world, { ...options, replace })
          assert.isTrue(isIdle(again), JSON.stringify(actionsOf(again)))
          const left = again.changes.filter(
            (change) => change.action === "kept" || (change.action === "differs" && change.remedy === "protected")
          )
          if (left.length === 0 && replace === "all") assert.isTrue(isEqual(again), JSON.stringify(actionsOf(again)))
          for (const { count, group, protect } of fleet.groups) {
            const members = entriesOf(account.ledger).filter(
              ({ node, member }) => node !== undefined && account.nodes.has(node.id) && member.startsWith(`${group}-`)
            )
            if (protect) assert.isAtLeast(members.length, count)
            else assert.lengthOf(members, count)
          }
        }
      ),
      { numRuns: 300 }
    )
  })
})
