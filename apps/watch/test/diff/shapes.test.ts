/**
 * A world in which nothing changes except the shape of the nodes in replies. Lists, single reads and the first read of a new node (which
 * may look like the reply to a create) have different fields, spellings, addresses and plan names, in both dialects. The catalogue has the
 * names from the beginning, from some step on, or never.
 */
import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import type { Node } from "@berthkit/core/domain/Node"
import { isSoak, seed } from "@berthkit/testing/chance"
import { expect, it } from "@effect/vitest"
import { planNames } from "../../src/diff/catalogue/PlanNames.ts"
import { byHand } from "./byHand.ts"
import { type Chance, chanceFrom } from "./Chance.ts"

type Shape = "list" | "read" | "create"
type Dialect = "documented" | "today"
type Spellings = ReadonlyArray<unknown>

/** A field that is missing from the record. */
const absent = Symbol("absent")

const ip = "10.0.0.1"
/** The addresses that a shape may state independently of the other shapes. */
const addresses: Spellings = [
  ip,
  { ip_address: ip },
  { ip_address: ip, netmask: "255.0.0.0", gateway: "10.0.0.254", type: "private" },
  `${ip}/24`,
  [ip],
  {},
  null,
  "",
  [],
  "[]",
  "null",
  "0.0.0.0",
  "::",
  { ip_address: "0.0.0.0" },
  7,
  absent
]

/** Values that state nothing. */
const nothing: Spellings = [absent, null, {}]

const flag = (is: boolean): Spellings => (is ? [true, 1, "true", "True"] : [false, 0, "false", "False"])

interface Truth {
  readonly dialect: Dialect
  readonly name: string
  readonly sku: string
  readonly slug: string
  readonly backups: boolean
  readonly locked: boolean
  readonly committed: boolean
}

/** The fields of each shape in both dialects, with the possible values of each. */
const fieldsOf = (
  shape: Shape,
  { backups, committed, dialect, locked }: Truth
): Readonly<Record<string, Spellings>> => {
  const isToday = dialect === "today"
  const status = shape === "create" ? ["Create", "Creating"] : ["running", "Running", "RUNNING"]
  const date = ["1970-01-01T00:00:07.250000Z", "1970-01-01T00:00:07Z", "1970-01-01T05:30:07.250+05:30"]
  const sizes = {
    vcpus: ["4", 4, "4.0", ...nothing],
    memory: ["16.00 GB", "16 GB", 16_384, ...nothing],
    disk: ["100 GB", 100, "0.1 TB", ...nothing]
  }
  const flags = {
    [shape === "read" && !isToday ? "locked" : "is_locked"]: [...flag(locked), ...nothing],
    [shape === "read" && !isToday ? "backups" : "backup"]: [...flag(backups), ...nothing]
  }
  const common = { status, ...flags }
  if (isToday && shape === "list") {
    return { ...common, created_at: nothing, rescue_mode_status: ["Disabled"], isEncryptionEnabled: [false] }
  }
  return {
    ...common,
    ...sizes,
    created_at: isToday ? [...date, ...nothing] : date,
    region: ["ncr", ...nothing],
    tags: [[], ...nothing],
    ...(isToday
      ? {
          committed_info: committed ? [{ committed_days: 90 }, absent] : [null, absent],
          label: ["default"],
          os_info: [{ name: "Ubuntu" }],
          vm_id: [5_433]
        }
      : {})
  }
}

/** A shape of this world. It always writes a field in the same way. */
const shapeOf = (shape: Shape, truth: Truth, chosen: Readonly<Record<string, unknown>>, chance: Chance) => {
  const fields = Object.entries(fieldsOf(shape, truth)).map(([name, ways]) => [name, chance.oneOf(ways)] as const)
  const record = Object.fromEntries([...fields, ...Object.entries(chosen)].filter(([, value]) => value !== absent))
  return (id: number): Node => nodeFromWire({ id, name: truth.name, ...record }) as Node
}

const chosenFrom = (chance: Chance, { sku, slug }: Truth) => ({
  plan: chance.oneOf([sku, slug, sku, slug, ...nothing]),
  public_ip_address: chance.oneOf(addresses),
  private_ip_address: chance.oneOf(addresses)
})

const worldOf = (chance: Chance, dialect: Dialect, hasNames: boolean) => {
  const truth = {
    dialect,
    name: "web",
    sku: "C3.16GB",
    slug: "C3-4vCPU-16RAM-100DISK-C3.8GB-Ubuntu-24.04-Delhi",
    backups: chance.happens(0.5),
    locked: chance.happens(0.5),
    committed: chance.happens(0.5)
  }
  // If a list or a read begins to show an address, the node was given that address.
  const [inList, inRead] = [chosenFrom(chance, truth), chosenFrom(chance, truth)]
  // The catalogue shows which plans are offered.
  const plan = hasNames ? chance.oneOf([truth.sku, truth.slug]) : undefined
  const inNew = (chosen: typeof inList) => ({ ...chosen, plan: plan ?? chosen.plan })
  return {
    ...truth,
    list: shapeOf("list", truth, inList, chance),
    read: shapeOf("read", truth, inRead, chance),
    newInList: shapeOf("create", truth, inNew(inList), chance),
    newInRead: shapeOf("create", truth, inNew(inRead), chance)
  }
}

const runs = isSoak ? 100 * Number(process.env["RUNS"]) : 100

it.each<Dialect>(["documented", "today"])(
  `no change of a node is reported in ${runs} histories of a world in which only the shapes differ, in the dialect %s`,
  (dialect) => {
    for (let run = 0; run < runs; run++) {
      const chance = chanceFrom(seed + run)
      const [isNewFrom, isReadFrom] = [2 + chance.below(6), chance.below(32)]
      const world = worldOf(chance, dialect, isReadFrom < isNewFrom)
      const { list, newInList, newInRead, read, sku, slug } = world
      const watch = byHand()
      const facts = [...watch.baseline(list(1), list(2))]
      // The plan of these nodes may no longer be offered, or the catalogue may be unread.
      if (isReadFrom < 4) watch.readsPlans(planNames([], ["C3.8GB"]))
      // The third node is there from a step on, and is first written as a create is. The node is read only after a list has shown it.
      let looks = 0
      const third = (first: (id: number) => Node, later: (id: number) => Node) => (looks++ < 2 ? first(3) : later(3))
      for (let step = 0; step < 16; step++) {
        watch.pass(1000 + chance.below(20_000))
        if (step === isReadFrom)
          watch.readsPlans(planNames([{ plan: slug, sku, image: "Ubuntu-24.04" }], [sku, "C3.8GB"]))
        const isThere = step >= isNewFrom
        const all = () => [list(1), list(2), ...(isThere ? [third(newInList, list)] : [])]
        const next = [
          () => watch.sweep(...all()),
          () => watch.sweep(list(1)),
          () => watch.tail(...all()),
          () => watch.finds(read(1)),
          () => watch.finds(read(2)),
          () => (looks > 0 ? watch.finds(third(newInRead, read)) : []),
          () => watch.misses(2),
          () => (watch.restart(), [])
        ]
        facts.push(...chance.oneOf(next)())
      }
      const changed = facts.filter(({ type }) => type === "berth.node.changed")
      expect({ run, shapes: [list(1), read(1), newInList(1), newInRead(1)], changed }).toMatchObject({
        run,
        changed: []
      })
    }
  }
)
