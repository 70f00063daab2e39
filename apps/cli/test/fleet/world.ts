/** Helpers for tests of fleets: groups, nodes, prices, and a service with its ledger that carries out a plan at once. */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import type { PriceList } from "@berthkit/core/domain/Price"
import { exactPrice, unknownPrice } from "@berthkit/core/domain/Price"
import { DateTime } from "effect"
import { notedLedger } from "../../src/fleet/notedLedger.ts"
import { sentOf } from "../../src/fleet/differences.ts"
import {
  begun,
  deleting,
  entriesOf,
  type Ledger,
  made,
  newLedger,
  notMade,
  ownedOf,
  previousDeleting,
  takenBack
} from "../../src/fleet/Ledger.ts"
import { memberText } from "../../src/fleet/Member.ts"
import type { LoadedFleet, LoadedGroup, Plan, PlanOptions } from "../../src/fleet/Change.ts"
import { mustBeKnown, planOf, type World } from "../../src/fleet/plan.ts"

export const nodeOf = (id: number, name: string, fields: Partial<Node> = {}): Node => ({
  id: id as NodeId,
  name,
  status: "running",
  createdAt: DateTime.makeUnsafe(1_700_000_000_000 + id * 1000),
  vcpus: null,
  memoryMib: null,
  diskGb: null,
  publicIp: null,
  privateIp: null,
  plan: "small",
  image: "ubuntu",
  region: "ncr",
  backups: null,
  locked: null,
  committed: null,
  tags: [],
  extra: {},
  ...fields
})

export const groupOf = (group: string, count: number, fields: Partial<LoadedGroup> = {}): LoadedGroup => ({
  group,
  count,
  nameOf: (n) => `shop-${group}-${n}`,
  order: { plan: "small", image: "ubuntu" },
  startScripts: [],
  scripts: [],
  protect: false,
  commitment: null,
  placeOf: () => ({ line: 1, column: 1 }),
  ...fields
})

export const fleetOf = (...groups: ReadonlyArray<LoadedGroup>): LoadedFleet => ({ fleet: "shop", groups })

export const emptyLedger = newLedger("account", "shop", "line")

const perHour: Readonly<Record<string, number>> = { small: 6.46, large: 12.92 }

const terms = (plan: string | null) => ({
  price: plan !== null && plan in perHour ? exactPrice(perHour[plan]!, perHour[plan]! * 730) : unknownPrice,
  minimumBillingInr: null,
  foreignPrice: null,
  isDiskUnpriced: false,
  committedOptions: [],
  contradicted: false
})

const ofPlan = ({ plan }: { readonly plan: string | null }) => terms(plan)

export const prices: PriceList = { ofOrder: ofPlan, ofNode: ofPlan, ofPlan }

/** A service and the ledger of a fleet. */
export class Account {
  readonly nodes = new Map<number, Node>()
  readonly deleted: Array<number> = []
  readonly createdNames: Array<string> = []
  /** The nodes of creates whose replies were lost, by member. */
  readonly unanswered = new Map<string, Node>()
  ledger: Ledger
  #next: number

  constructor(nodes: ReadonlyArray<Node>, ledger: Ledger = emptyLedger) {
    for (const node of nodes) this.nodes.set(node.id, node)
    this.ledger = ledger
    this.#next = Math.max(0, ...this.nodes.keys()) + 1000
  }

  /** The truth as a run sees it after it has proved which nodes are gone. */
  get world(): World {
    const known = Array.from(this.ledger.members.values()).flatMap(({ node, previous }) => [node, previous])
    const gone = known.flatMap((owned) => (owned === undefined || this.nodes.has(owned.id) ? [] : [owned.id]))
    return { nodes: new Map(this.nodes), gone: new Set(gone), elsewhere: new Set(), losses: new Map() }
  }

  /** The cost of the fleet's nodes. */
  costOf(ids: Iterable<number>): number {
    let micros = 0
    for (const id of ids) {
      const node = this.nodes.get(id)
      if (node !== undefined) micros += Math.round((perHour[node.plan ?? ""] ?? 0) * 1e6)
    }
    return micros / 1e6
  }

  #make(name: string, plan: string, image: string | number): Node {
    const node = nodeOf(this.#next++, name, { plan, image: String(image) })
    this.nodes.set(node.id, node)
    this.createdNames.push(name)
    return node
  }

  #remove(id: number) {
    this.nodes.delete(id)
    this.deleted.push(id)
  }

  /** Settles the open creates whose outcome the run must know. */
  resolve(fleet: LoadedFleet, options: Pick<PlanOptions, "isDestroy" | "replace">): void {
    const mustKnow = mustBeKnown(fleet, this.ledger, options)
    for (const entry of entriesOf(this.ledger)) {
      if (entry.state !== "creating" || !mustKnow(entry)) continue
      const node = this.unanswered.get(entry.member)
      this.ledger =
        node === undefined ? notMade(this.ledger, entry.member) : made(this.ledger, entry.member, ownedOf(node))
      this.unanswered.delete(entry.member)
    }
  }

  /** Runs once, killed after `maxSteps` steps if given; returns the plan. */
  run(fleet: LoadedFleet, options: PlanOptions, maxSteps?: number): Plan {
    this.resolve(fleet, options)
    const plan = planOf(fleet, this.ledger, this.world, options)
    this.carryOut(plan, maxSteps, fleet, options.isDestroy)
    return plan
  }

  /** Carries out a plan step by step and keeps the ledger like `perform`. It can stop after a number of steps, like a killed run. */
  carryOut(
    plan: Plan,
    maxSteps = Number.POSITIVE_INFINITY,
    fleet: LoadedFleet = fleetOf(),
    isDestroy = false,
    onStep: () => void = () => {}
  ): void {
    let steps = 0
    const step = (act: () => void) => {
      if (steps++ >= maxSteps) return
      act()
      onStep()
    }
    step(() => (this.ledger = notedLedger(this.ledger, plan, fleet, isDestroy)))
    for (const change of plan.changes) {
      const member = memberText(change.member)
      if (change.action === "create" || (change.action === "replace" && change.made === null)) {
        const { group, name } = change
        if (!change.isResumed) {
          const { image, plan } = group.order
          const pending = { name, plan, image, by: "here", since: "2026-01-01T00:00:00Z" }
          const sent = sentOf(group.order, group.scripts)
          step(() => (this.ledger = begun(this.ledger, change.member, { pending, sent, protect: group.protect })))
        }
        // Sends the pending create of the ledger. If an earlier attempt made the node, the key finds that node.
        step(() => {
          const { image, name, plan } = this.ledger.members.get(member)!.pending!
          if (!this.unanswered.has(member)) this.unanswered.set(member, this.#make(name, plan, image))
        })
        step(() => {
          this.ledger = made(this.ledger, member, ownedOf(this.unanswered.get(member)!))
          this.unanswered.delete(member)
        })
      }
      if (change.action === "replace") {
        if (change.isTakenBack) step(() => (this.ledger = takenBack(this.ledger, member)))
        step(() => (this.ledger = previousDeleting(this.ledger, member)))
        step(() => this.#remove(change.old.id))
      }
      if (change.action === "delete") {
        const { old } = change
        if (old !== null) {
          step(() => (this.ledger = previousDeleting(this.ledger, member)))
          step(() => this.#remove(old.id))
        }
        step(() => (this.ledger = deleting(this.ledger, member)))
        step(() => this.#remove(change.node.id))
      }
    }
  }
}
