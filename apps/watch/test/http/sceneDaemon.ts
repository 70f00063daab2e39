/**
 * Scenes for the tests of the page: a daemon that has watched an account of some nodes for a while.
 */
import { exactPrice } from "@berthkit/core/domain/Price"
import { DateTime, Effect } from "effect"
import { aNode } from "../diff/aNode.ts"
import { anAccount, aSink, aTrouble, type MemoryDaemon } from "./memoryDaemon.ts"

const plans = [
  ["C-4VCPU-16RAM-100DISK", 9431.6],
  ["C-8VCPU-32RAM-200DISK", 18_863.2],
  ["G-2VCPU-8RAM-50DISK", 4715.8],
  ["A-1VCPU-1RAM-15DISK", 730]
] as const

const roles = ["web", "api", "worker", "database", "cache", "queue", "build", "metrics"] as const

const hourMillis = 3_600_000

const large = { plan: plans[1][0], vcpus: 8, memoryMib: 32_768, diskGb: 200, series: "C" }

/** The price of a plan that two nodes have changes. */
const dearer = (...observed: readonly [DateTime.Utc, DateTime.Utc]) => ({
  type: "berth.plan.price_changed",
  subject: `plans/${large.plan}`,
  time: DateTime.formatIso(observed[1]),
  data: {
    before: { ...large, ...exactPrice(24.56, 17_926.4), prices: [] },
    after: { ...large, ...exactPrice(25.84, plans[1][1]), prices: [] },
    nodes: 2,
    differencePerMonthInr: 1873.6,
    observedBetween: observed.map(DateTime.formatIso)
  }
})

/** An account of `count` nodes, most of them running, with the changes of the last few hours. */
export const scene = Effect.fnUntraced(function* (daemon: MemoryDaemon, count: number) {
  const now = yield* DateTime.now
  const nowMillis = DateTime.toEpochMillis(now)
  const ago = (hours: number) => DateTime.makeUnsafe(nowMillis - hours * hourMillis)
  const { append, put, remove, state } = daemon
  state.plans = plans.map(([plan, pricePerMonthInr]) => ({
    account: "default",
    plan,
    ...exactPrice(pricePerMonthInr / 730, pricePerMonthInr),
    prices: [],
    slugs: [],
    foreignPrice: null
  }))
  append({ type: "berth.watch.baseline", time: DateTime.formatIso(ago(30)), data: { count } })
  const nodeOf = (index: number) => {
    const number = Math.floor(index / roles.length) + 1
    return aNode({
      id: 97_898 + index,
      name: `${roles[index % roles.length]}-${number}`,
      createdAtMillis: nowMillis - (31 + ((index * 7) % 900)) * hourMillis,
      plan: plans[index % plans.length]![0],
      publicIp: `203.0.${113 + Math.floor(index / 250)}.${(index % 250) + 1}`,
      privateIp: `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`,
      image: "Ubuntu-24.04"
    })
  }
  const nodes = Array.from({ length: count }, (_, index) => nodeOf(index))
  for (const node of nodes) {
    state.nodes.set(node.id, { ...node, since: ago(30) })
  }
  const change = (index: number, status: "running" | "power-off" | "terminate", hours: number) => {
    const node = nodes[index]
    if (node !== undefined) put({ ...node, status }, DateTime.formatIso(ago(hours)))
  }
  change(2, "power-off", 19)
  change(5, "power-off", 15.5)
  change(2, "running", 14)
  change(6, "power-off", 9)
  change(5, "running", 6)
  change(3, "power-off", 4.2)
  change(3, "running", 3.9)
  if (count > 0) {
    const made = aNode({
      id: 99_990,
      name: "web-canary",
      createdAtMillis: nowMillis - 2 * hourMillis,
      plan: plans[2][0],
      publicIp: "203.0.113.251",
      status: "created"
    })
    put(made, DateTime.formatIso(ago(2)))
    put({ ...made, status: "running" }, DateTime.formatIso(ago(1.95)))
    append(dearer(ago(1.4), ago(1.2)))
    append({
      type: "berth.image.added",
      subject: "images/golden-2026-11",
      time: DateTime.formatIso(ago(0.8)),
      data: { before: null, after: { image: "golden-2026-11", name: "golden-2026-11" } }
    })
    put({ ...made, status: "terminate" }, DateTime.formatIso(ago(0.4)))
    remove(99_990, DateTime.formatIso(ago(0.35)))
    const fresh = aNode({
      id: 99_991,
      name: "web-next",
      createdAtMillis: nowMillis - 40_000,
      plan: plans[0][0],
      status: "created"
    })
    put(fresh, DateTime.formatIso(ago(0.01)))
  }
  state.accounts = [
    anAccount({
      nodes: state.nodes.size,
      lastSweep: { endedAt: ago(3 / 3600), durationMillis: 420, requests: 1 },
      nextSweepAt: DateTime.add(now, { seconds: 5 }),
      sweepIntervalMillis: 8000,
      detectionLatencyMillis: 8400,
      allowance: { limit: 1200, remaining: 868, resetAt: DateTime.add(now, { minutes: 23 }) }
    })
  ]
  state.sinks = [
    aSink({ sink: "ops" }),
    aSink({
      sink: "chat",
      kind: "webhook (slack)",
      state: "down",
      message: "503 from hooks.example.com",
      lag: 3,
      waiting: 2,
      deadLetters: 1,
      failingSince: ago(1.95)
    }),
    aSink({ sink: "log", kind: "stdout" })
  ]
  state.troubles = [
    aTrouble({
      name: "sink-down",
      about: { kind: "sink", name: "chat" },
      message: "The receiver is down. 503 from hooks.example.com.",
      next: "Start the receiver again: the daemon tries it once a minute, and then delivers all waiting events.",
      since: ago(1.95)
    }),
    aTrouble({
      name: "dead-letters",
      about: { kind: "sink", name: "chat" },
      message: "Some events could not be delivered. 1 is a dead letter.",
      next: "Correct the receiver, then run berth-watch sinks retry chat.",
      since: ago(0.9)
    })
  ]
})
