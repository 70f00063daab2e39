/**
 * What tests of a fleet are made of: groups, nodes, prices; and a service that does at once what a plan says, with the ledger kept beside it.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import type { PriceList } from "@berthkit/core/domain/Price"
import { exactPrice, unknownPrice } from "@berthkit/core/domain/Price"
import { DateTime } from "effect"
import { settledLedger } from "../../src/applying/perform.ts"
import { sentOf } from "../../src/fleet/differences.ts"
import { begun, deleting, type Ledger, made, newLedger, ownedOf, previousDeleting } from "../../src/fleet/Ledger.ts"
import { memberText } from "../../src/fleet/Member.ts"
import type { LoadedFleet, LoadedGroup, Plan, World } from "../../src/fleet/plan.ts"

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
  ...fields
})

export const fleetOf = (...groups: ReadonlyArray<LoadedGroup>): LoadedFleet => ({ fleet: "shop", groups })

export const emptyLedger = newLedger("account", "shop", "line")

const perHour: Readonly<Record<string, number>> = { small: 6.46, large: 12.92 }

const terms = (plan: string | null) => ({
  price: plan !== null && plan in perHour ? exactPrice(perHour[plan]!, perHour[plan]! * 730) : unknownPrice,
  minimumBillingInr: null,
  committedOptions: [],
  contradicted: false
})

export const prices: PriceList = { ofOrder: ({ plan }) => terms(plan), ofNode: ({ plan }) => terms(plan) }

/** A service and the ledger beside it. */
export class Account {
  readonly nodes = new Map<number, Node>()
  readonly deleted: Array<number> = []
  readonly createdNames: Array<string> = []
  ledger: Ledger
  #next: number

  constructor(nodes: ReadonlyArray<Node>, ledger: Ledger = emptyLedger) {
    for (const node of nodes) this.nodes.set(node.id, node)
    this.ledger = ledger
    this.#next = Math.max(0, ...this.nodes.keys()) + 1000
  }

  /** The truth, as a run that has proved what is gone sees it. */
  get world(): World {
    const known = Array.from(this.ledger.members.values()).flatMap(({ node, previous }) => [node, previous])
    const gone = known.flatMap((owned) => (owned === undefined || this.nodes.has(owned.id) ? [] : [owned.id]))
    return { nodes: new Map(this.nodes), gone: new Set(gone) }
  }

  /** What the fleet's nodes cost. */
  costOf(ids: Iterable<number>): number {
    let micros = 0
    for (const id of ids) {
      const node = this.nodes.get(id)
      if (node !== undefined) micros += Math.round((perHour[node.plan ?? ""] ?? 0) * 1e6)
    }
    return micros / 1e6
  }

  #make(name: string, group: LoadedGroup): Node {
    const node = nodeOf(this.#next++, name, { plan: group.order.plan, image: String(group.order.image) })
    this.nodes.set(node.id, node)
    this.createdNames.push(name)
    return node
  }

  #remove(id: number) {
    this.nodes.delete(id)
    this.deleted.push(id)
  }

  /** Does what a plan says, step by step, with the ledger as `perform` keeps it; ends early after so many steps, as a killed run does. */
  carryOut(plan: Plan, maxSteps = Number.POSITIVE_INFINITY): void {
    let steps = 0
    const step = (act: () => void) => {
      if (steps++ < maxSteps) act()
    }
    step(() => (this.ledger = settledLedger(this.ledger, plan)))
    for (const change of plan.changes) {
      const member = memberText(change.member)
      if (change.action === "create" || (change.action === "replace" && change.made === null)) {
        const { group, name } = change
        let node: Node | undefined
        const pending = {
          name,
          plan: group.order.plan,
          image: group.order.image,
          by: "here",
          since: "2026-01-01T00:00:00Z"
        }
        step(() => {
          const sent = sentOf(group.order, group.scripts)
          this.ledger = begun(this.ledger, change.member, { pending, sent, protect: group.protect })
          node = this.#make(name, group)
          this.ledger = made(this.ledger, member, ownedOf(node))
        })
      }
      if (change.action === "replace") {
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
