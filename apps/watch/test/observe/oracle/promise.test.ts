/**
 * The promise of detection latency under lies: a node that the list shows for longer than the promised time for its account's size is
 * reported, even if reads of single nodes hang or fail.
 */
import type { KnownStatus } from "@berthkit/core/domain/NodeStatus"
import { isSoak, seed } from "@berthkit/testing/chance"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { FaultKind } from "../../diff/oracle/Service.ts"
import { type Life, statusesBetween, type World } from "../../diff/oracle/World.ts"
import { lifeOf, polled, type Polled, type PolledHistory } from "./polling.ts"

/** The promised time for a new node in an account of up to 3000 nodes, plus the duration of a reply. */
const promisedMillis = 10_250

/** If more than five nodes are in transition, all intervals are longer: by a third for up to ten such nodes, and twice as long for more. */
const stretchedMillis = 13_500
const veryStretchedMillis = 20_500

const history = (over: Partial<PolledHistory>): PolledHistory => ({
  seed,
  size: 20,
  minutes: 25,
  kinds: [],
  hanging: 0,
  changeMillis: 10_000,
  ...over
})

/** How many nodes were in transition about when one was created, some of them in doubt for a minute after their end. */
const transitionsAbout = ({ createdMillis }: Life, { lives }: World) =>
  lives.filter(
    (life) =>
      life.createdMillis <= createdMillis + stretchedMillis &&
      life.goneMillis > createdMillis - 60_000 &&
      statusesBetween(life, createdMillis - 60_000, createdMillis + stretchedMillis).some((status) =>
        inTransition.has(status)
      )
  ).length

const inTransition = new Set<KnownStatus>(["creating", "created", "terminate"])

const honestMillis = (size: number, transitions: number) =>
  transitions > 10 ? veryStretchedMillis : size < 100 && transitions <= 5 ? promisedMillis : stretchedMillis

/** A failed page is requested again, and a list that leaves out a node by chance contains it the next time. */
const allowedMillis = ({ hanging, kinds, size }: PolledHistory, life: Life, world: World) =>
  honestMillis(size, transitionsAbout(life, world)) *
  // Pages of a sweep and the end of the list wait for each other while doubts cannot be settled (docs/reference/latency.md).
  (size >= 100 && hanging > 0 ? 2 : 1) *
  (1 + (kinds.includes("blink") ? 1 : 0) + (kinds.includes("errors") ? 1 : 0))

/** Nothing is promised while three requests for the list have failed in a row: one in five fails, and the pauses between attempts grow. */
const isAnswered = ({ lists }: Polled, fromMillis: number, toMillis: number) => {
  let failures = 0
  for (const { atMillis, hasFailed } of lists) {
    failures = hasFailed ? failures + 1 : 0
    if (failures >= 3 && atMillis >= fromMillis && atMillis <= toMillis) return false
  }
  return true
}

/** The list lies about nodes with even ids, sometimes for longer than the promise. */
const isListed = ({ kinds }: PolledHistory, { id }: Life) =>
  id % 2 === 1 || !kinds.some((kind) => kind === "hidden" || kind === "staleList")

/** Whether it is at the end of the list, like new nodes. A node that takes over an id is where the old one was. */
const isNewest = (life: Life, { lives }: World) =>
  lives.every((other) => other === life || other.createdMillis > life.createdMillis || other.id < life.id)

/** The nodes that lived longer than the promised time: their number, and those that were reported too late or never. */
const judged = (history: PolledHistory, polled: Polled) => {
  const { reported, world } = polled
  const endMillis = history.minutes * 60_000
  const lives = world.lives.filter(
    (life) =>
      life.createdMillis > 60_000 &&
      Math.min(life.goneMillis, endMillis) - life.createdMillis > allowedMillis(history, life, world) &&
      isListed(history, life) &&
      isAnswered(polled, life.createdMillis, life.createdMillis + allowedMillis(history, life, world)) &&
      ((history.size < 100 && !history.kinds.includes("blink")) || isNewest(life, world))
  )
  const late = lives.filter(
    (life) => (reported.get(lifeOf(life)) ?? Infinity) - life.createdMillis > allowedMillis(history, life, world)
  )
  return { count: lives.length, late: late.map(lifeOf) }
}

const lies: ReadonlyArray<FaultKind> = ["denied", "hidden", "staleList", "staleRead", "blink", "errors"]

const kindsOfHistories: ReadonlyArray<readonly [string, Partial<PolledHistory>]> = [
  ["an honest service", {}],
  ["every single read hanging", { hanging: 1 }],
  ["every single read hanging, and lies of the list", { hanging: 1, kinds: ["hidden", "staleList"] }],
  ["a third of the reads hanging, and all lies", { hanging: 0.3, kinds: lies }],
  ["all lies", { kinds: lies }],
  ["all lies about an account of three pages", { size: 250, kinds: ["denied", "hidden", "staleRead"], hanging: 1 }]
]

/** The number of histories of each kind. */
const histories = isSoak ? 4 * Number(process.env["RUNS"] ?? 1) : 1

/** Each history has its own test and so its own clock: the clock of the test is the clock of the history's world. */
const runs = (isSoak ? kindsOfHistories : kindsOfHistories.filter((_, index) => index % 2 === 1)).flatMap(
  ([what, over]) => Array.from({ length: histories }, (_, run) => [what, run, over] as const)
)

describe("a node that lives for longer than is promised is reported", () => {
  it.effect.each(runs)("with %s: history %i", ([, run, over]) =>
    Effect.gen(function* () {
      const told = history({ ...over, seed: seed + run })
      const { count, late } = judged(told, yield* polled(told))
      expect(count).toBeGreaterThan(4)
      expect(late).toEqual([])
    })
  )
})
