/** Generates histories, plays them, and shrinks those that break a rule. */
import { numbersFrom, seed } from "@berthkit/testing/chance"
import * as fc from "fast-check"
import type { Fleet } from "./fleetFile.ts"
import { brokenBy, type Broken } from "./invariants.ts"
import { type Cut, Terminal } from "./program.ts"
import {
  type Currency,
  type ImageName,
  images,
  type Place,
  type PlanName,
  plans,
  type Trouble,
  type Weather
} from "./service.ts"
import type { Address, ApiKey, Around, DiskFault, Edit, Happening, History, Step } from "./steps.ts"
import { type Ran, World } from "./world.ts"

export interface Played {
  readonly broken: ReadonlyArray<Broken>
  readonly ran: ReadonlyArray<Ran>
}

/** Plays a history until it breaks a rule that is not left out. */
export const play = async (history: History, isLeftOut: (broken: Broken) => boolean = () => false): Promise<Played> => {
  // A history must have the same result no matter what was played before it.
  Object.assign(Math, { random: numbersFrom(seed) })
  const world = new World()
  const ran: Array<Ran> = []
  try {
    for (const step of history) {
      const result = await world.play(step)
      if (result === undefined) continue
      ran.push(result)
      const broken = brokenBy(world, result).filter((each) => !isLeftOut(each))
      if (broken.length > 0) return { broken, ran }
    }
    return { broken: [], ran }
  } finally {
    world.close()
  }
}

/** Loads all modules of the commands, while time stands still. */
export const warmUp = async (): Promise<void> => {
  if (Terminal.isWarm) return
  await play(every, () => true)
  Terminal.isWarm = true
}

const every: History = [
  { step: "apply" },
  { step: "diff" },
  { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } },
  { step: "apply", replace: true, maxDeletes: 5, answer: "y" },
  { step: "run", name: "ci", plan: "tiny" },
  { step: "run", name: "ci", plan: "tiny", reuse: true },
  { step: "reap" },
  { step: "create", key: "k1", name: "Solo_1", plan: "tiny" },
  { step: "create", key: "k1", name: "Solo_1", plan: "tiny", weather: { create: "lost" } },
  { step: "commitment", name: "Solo_1", days: 30, answer: "y" },
  { step: "propose", action: "create", name: "agent", plan: "tiny" },
  { step: "approve", answer: "y" },
  { step: "execute" },
  { step: "fleet" },
  { step: "forget", member: "web-2" },
  { step: "create if absent", name: "Solo_1", plan: "tiny" },
  { step: "create", key: "k2", name: "row", plan: "tiny", count: 2, answer: "y", columns: 60 },
  { step: "edit", edit: { sets: "plan", group: "web", to: "small" } },
  { step: "apply", replace: true, maxDeletes: 5, ready: true, answer: "y", columns: 60 },
  { step: "adopt", name: "Solo_1", member: "web-3" },
  { step: "apply", weather: { create: "lost" } },
  { step: "destroy", answer: "y" },
  { step: "login" },
  { step: "create", key: "k3", name: "Solo_1", plan: "tiny" },
  { step: "delete", name: "Solo_1" },
  { step: "logout" },
  { step: "apply", fleet: "other" }
]

// Generators.

const pick = <T>(...values: ReadonlyArray<T>) => fc.constantFrom(...values)
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })
const seldom = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 })
const rarely = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 8 })

type Optional<T> = { [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined> }
type Required<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] }

/** Drops undefined fields, so that the value prints well. */
const compact = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter((entry) => entry[1] !== undefined)) as Optional<T> & Required<T>

const plan = pick<PlanName>(...(Object.keys(plans) as ReadonlyArray<PlanName>))
const image = pick<ImageName>(...(Object.keys(images) as ReadonlyArray<ImageName>))
const groupKey = fc.oneof(often(3, pick("web")), often(1, pick("app", "db")))
const nodeName = pick("shop-web-1", "shop-web-2", "shop-app-1", "ci", "Solo_1", "agent")
const trouble = pick<Trouble>("429", "412", "400", "500", "lost", "swallowed", "late")

const weather: fc.Arbitrary<Weather> = fc.oneof(
  often(6, fc.record({ create: trouble, times: rarely(pick(1, 2)) }).map(compact)),
  often(
    1,
    fc
      .record({ remove: fc.oneof(often(3, trouble), often(1, pick("ignored" as const))), times: rarely(pick(1)) })
      .map(compact)
  ),
  often(1, fc.record({ commit: trouble, times: rarely(pick(1)) }).map(compact)),
  often(
    3,
    pick<Weather>(
      { hiddenForSeconds: 10 },
      { spelling: "dashes" },
      { spelling: "lower" },
      { spelling: "cut" },
      { neverRuns: true },
      { firstNode: "off" },
      { firstNode: "gone" },
      { falseMissing: true },
      { falseMissing: "once" },
      { staleLists: true },
      { shortLists: true },
      { noDate: true },
      { create: "lost", hiddenForSeconds: 10 },
      { create: "lost", spelling: "dashes" }
    )
  )
)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  often(3, fc.record({ does: pick("create" as const), name: nodeName, plan: pick<PlanName>("small", "tiny") })),
  often(1, fc.record({ does: pick("delete" as const), name: nodeName })),
  often(
    2,
    fc.record({
      does: pick("stop" as const, "stop" as const, "start" as const),
      name: pick("shop-web-1", "shop-web-2", "shop-app-1")
    })
  ),
  often(1, fc.record({ does: pick("rename" as const), name: nodeName, to: pick("theirs", "shop-web-9") })),
  often(1, fc.record({ does: pick("raise prices" as const), plan, times: pick(2, 80) })),
  often(1, fc.record({ does: pick("raise commitments" as const), times: pick(2, 212) })),
  often(1, fc.record({ does: pick("raise minimums" as const), plan, times: pick(2, 80) })),
  often(1, fc.record({ does: pick("step the clock" as const), minutes: pick<15 | -15>(15, -15) })),
  often(1, fc.record({ does: pick("change the currency" as const), to: pick<Currency>("USD", "USD", "INR") }))
)

const edit: fc.Arbitrary<Edit> = fc.oneof(
  often(5, fc.record({ sets: pick("plan" as const), group: groupKey, to: plan })),
  often(2, fc.record({ sets: pick("image" as const), group: groupKey, to: image })),
  often(2, fc.record({ sets: pick("count" as const), group: groupKey, to: pick(0, 1, 2, 3) })),
  often(2, fc.record({ sets: pick("tags" as const), group: groupKey, to: pick([], ["a", "b"], ["b", "a"], ["a"]) })),
  often(3, fc.record({ sets: pick("protect" as const), group: groupKey, to: pick(true, true, false) })),
  often(1, fc.record({ sets: pick("commitment" as const), group: groupKey, to: pick(30, 365, null) })),
  often(2, fc.record({ sets: pick("name" as const), group: groupKey, to: pick("Web_{n}", "shop-web-{n}", null) })),
  often(
    1,
    fc.record({
      sets: pick("script" as const),
      group: groupKey,
      to: pick("#!/bin/sh\necho a\n", "#!/bin/sh\necho b\n")
    })
  ),
  often(4, fc.record({ sets: pick("group name" as const), group: pick("web"), to: pick("app", "db") })),
  often(
    1,
    fc.record({ sets: pick("group" as const), group: groupKey, to: pick("removed" as const, "added" as const) })
  ),
  often(2, pick<Edit>({ sets: "everything", to: "as before the last edit" }))
)

const how = pick("kill" as const, "kill" as const, "interrupt" as const, "interrupt" as const, "restart" as const)
const aCut: fc.Arbitrary<Cut> = fc.oneof(
  often(4, fc.record({ atRequest: fc.integer({ min: 1, max: 10 }), isSent: fc.boolean(), how })),
  often(1, fc.record({ atRequest: pick("create" as const), isSent: pick(true), how })),
  often(1, fc.record({ atWrite: fc.integer({ min: 1, max: 120 }), isSent: fc.boolean(), how }))
)
const disk = fc.record({
  atRequest: pick(0, 0, 1, 2, 3, 4, 5, 6),
  is: pick<DiskFault>("full", "read-only", "unreadable", "unreadable files")
})
const cut: fc.Arbitrary<Around> = fc.record({ cut: aCut })

const around: fc.Arbitrary<Around> = fc
  .record({
    weather: seldom(weather),
    cut: rarely(aCut),
    stateGoneAt: fc.option(fc.integer({ min: 2, max: 8 }), { nil: undefined, freq: 30 }),
    disk: fc.option(disk, { nil: undefined, freq: 30 }),
    clock: rarely(fc.record({ atRequest: fc.integer({ min: 1, max: 8 }), minutes: pick<15 | -15>(15, -15) }))
  })
  .map(compact)

/** A person at a terminal, who may take long enough for the world to change. */
const asked = fc
  .record({
    answer: pick("y" as const, "y" as const, "n" as const),
    columns: seldom(pick(40, 60, 80, 120)),
    meanwhile: seldom(happening)
  })
  .map(compact)
const maybeAsked = fc.oneof(often(3, fc.constant({})), often(1, asked))

const merged = <A extends object, B extends object>(a: fc.Arbitrary<A>, b: fc.Arbitrary<B>): fc.Arbitrary<A & B> =>
  fc.tuple(a, b).map(([one, other]) => ({ ...one, ...other }))

const apply: fc.Arbitrary<Step> = merged(
  merged(around, maybeAsked),
  fc
    .record({
      step: pick("apply" as const),
      replace: fc.option(pick(true), { nil: undefined, freq: 1 }),
      maxCost: seldom(pick(2, 30, 1000)),
      maxDeletes: pick(5, 5, 5, 1, undefined),
      maxMinimum: rarely(pick(36, 300, 600)),
      wait: seldom(pick(true)),
      maxUnavailable: rarely(pick(0, 2)),
      pick: rarely(pick("web-1", "web-2", "app-1")),
      ready: rarely(pick(true, false))
    })
    // A ready command matters only for a replacement.
    .map(({ ready, replace, ...rest }) => compact({ ...rest, replace, ready: replace === true ? ready : undefined }))
)
const plainApply: Step = { step: "apply", maxDeletes: 5 }
/** Another machine gets the ledger and gives it back. */
const elsewhere: Step = {
  ...plainApply,
  machine: "second",
  handsBack: true,
  replace: true,
  maxCommitment: 200_000
}
const runStep: fc.Arbitrary<Step> = merged(
  around,
  fc
    .record({
      step: pick("run" as const),
      name: pick("ci"),
      plan: pick<PlanName>("tiny", "small", "flat"),
      maxCost: seldom(pick(2, 5, 15)),
      maxMinimum: rarely(pick(30, 100)),
      reuse: seldom(pick(true)),
      fails: rarely(pick(true))
    })
    .map(compact)
)
const wait: fc.Arbitrary<Step> = fc.record({
  step: pick("wait" as const),
  seconds: pick(1, 15, 660, 660, 3600, 86_400)
})
const create: fc.Arbitrary<Step> = merged(
  around,
  fc.record({ step: pick("create" as const), key: pick("k1"), name: pick("Solo_1"), plan: pick<PlanName>("tiny") })
)

const account: fc.Arbitrary<Step> = fc.record({
  step: pick("account" as const),
  has: pick<ApiKey | Address>(
    "first key",
    "second key",
    "second key",
    "address with a slash",
    "address in capitals",
    "address by number"
  )
})
const place: fc.Arbitrary<Step> = fc.record({
  step: pick("place" as const),
  is: pick<Place>("second", "second", "first")
})
const deletes: fc.Arbitrary<Step> = fc.record({ step: pick("delete" as const), name: pick("shop-web-1", "shop-web-2") })

const step: fc.Arbitrary<Step> = fc.oneof(
  often(6, apply),
  often(4, fc.constant(plainApply)),
  often(8, fc.record({ step: pick("edit" as const), edit })),
  often(2, merged(around, merged(maybeAsked, fc.record({ step: pick("destroy" as const) })))),
  often(2, fc.constant<Step>({ step: "diff" })),
  often(1, fc.constant<Step>({ step: "dry run" })),
  often(2, runStep),
  often(1, merged(around, fc.record({ step: pick("reap" as const) }))),
  often(2, create),
  often(
    1,
    merged(
      merged(around, asked),
      fc.record({ step: pick("commitment" as const), name: pick("Solo_1", "shop-web-1"), days: pick(30, 365) })
    )
  ),
  often(
    1,
    fc.record({
      step: pick("propose" as const),
      action: pick("create" as const),
      name: pick("agent"),
      plan: pick<PlanName>("tiny", "small")
    })
  ),
  often(
    1,
    fc.record({ step: pick("propose" as const), action: pick("delete" as const), name: pick("shop-web-1", "Solo_1") })
  ),
  often(
    1,
    fc.record({
      step: pick("propose" as const),
      action: pick("commit" as const),
      name: pick("shop-web-1", "Solo_1"),
      days: pick(30, 365)
    })
  ),
  often(1, fc.record({ step: pick("approve" as const), answer: pick("y" as const, "n" as const) })),
  often(1, merged(around, fc.record({ step: pick("execute" as const) }))),
  often(
    1,
    fc.record({ step: pick("adopt" as const), name: pick("Solo_1", "shop-web-1"), member: pick("web-1", "web-3") })
  ),
  often(3, fc.record({ step: pick("others" as const), happening })),
  often(4, wait),
  often(
    1,
    fc.record({ step: pick("state" as const), is: pick("saved" as const, "restored" as const, "lost" as const) })
  ),
  often(1, fc.constant<Step>({ step: "apply", machine: "second" })),
  often(1, fc.constant(elsewhere)),
  often(1, fc.record({ step: pick("forget" as const), member: pick("web-1", "web-2", "app-1") })),
  often(
    1,
    merged(
      merged(around, maybeAsked),
      fc.record({
        step: pick("create if absent" as const),
        name: pick("Solo_1", "shop-web-1"),
        plan: pick<PlanName>("tiny")
      })
    )
  ),
  often(1, fc.constant<Step>({ step: "fleet" })),
  often(1, merged(around, fc.record({ step: pick("delete" as const), name: nodeName }))),
  often(1, pick<Step>({ step: "login" }, { step: "logout" })),
  often(1, account),
  often(1, place),
  often(1, pick<Step>({ step: "ledger", is: "committed" }, { step: "ledger", is: "checked out" }))
)

const sequence = (...steps: ReadonlyArray<fc.Arbitrary<Step> | Step>): fc.Arbitrary<History> =>
  fc.tuple(...steps.map((each) => ("step" in each ? fc.constant(each) : each)))

const joined = (...histories: ReadonlyArray<fc.Arbitrary<History>>): fc.Arbitrary<History> =>
  fc.tuple(...histories).map((each) => each.flat())

const edited = (by: fc.Arbitrary<Edit> = edit): fc.Arbitrary<Step> =>
  fc.record({ step: pick("edit" as const), edit: by })
const troubled: fc.Arbitrary<Around> = fc.record({ weather: fc.record({ create: trouble }) })
const others: fc.Arbitrary<Step> = fc.record({ step: pick("others" as const), happening })
const aPlan = fc.record({ sets: pick("plan" as const), group: pick("web"), to: plan })
const anOrder: fc.Arbitrary<Edit> = fc.oneof(
  aPlan,
  fc.record({ sets: pick("image" as const), group: pick("web"), to: image }),
  fc.record({ sets: pick("tags" as const), group: pick("web"), to: pick(["a", "b"], ["b", "a"]) })
)
const sameName = (name: string, plan: PlanName): Step => ({ step: "others", happening: { does: "create", name, plan } })

/** Sequences that often go wrong: something is left unfinished, and something else meets it later. */
const phrase: fc.Arbitrary<History> = fc.oneof(
  often(10, sequence(step)),
  often(2, sequence(apply, edited(), apply)),
  // A new node runs, but has stopped by the time the run has waited for something else.
  often(
    2,
    sequence(
      plainApply,
      edited(
        pick<Edit>({ sets: "group name", group: "web", to: "app" }, { sets: "image", group: "web", to: "debian" })
      ),
      edited(),
      merged(
        fc.record({ weather: pick<Weather>({ firstNode: "off" }, { firstNode: "gone" }) }),
        fc.constant<Step>({ ...plainApply, replace: true, maxUnavailable: 2, maxCommitment: 200_000 })
      )
    )
  ),
  // A create is left open, and then the file changes.
  often(3, sequence(merged(troubled, fc.constant(plainApply)), edited(aPlan), apply)),
  often(
    1,
    sequence(
      plainApply,
      edited(anOrder),
      merged(troubled, fc.constant<Step>({ ...plainApply, replace: true })),
      edited(),
      apply
    )
  ),
  // Several creates in a row, with or without a limit.
  often(
    1,
    sequence(
      merged(
        merged(around, maybeAsked),
        fc
          .record({
            step: pick("create" as const),
            key: pick("k2"),
            name: pick("row"),
            plan: pick<PlanName>("tiny", "small"),
            count: pick(2, 3),
            maxCost: pick(2, 4, 30, undefined)
          })
          .map(compact)
      )
    )
  ),
  // Limits in rupees, and prices in another currency.
  often(
    1,
    sequence(
      pick<Step>({ step: "others", happening: { does: "change the currency", to: "USD" } }, plainApply),
      edited(
        pick<Edit>(
          { sets: "commitment", group: "web", to: 30 },
          { sets: "count", group: "web", to: 3 },
          { sets: "plan", group: "web", to: "tiny" }
        )
      ),
      pick<Step>({ step: "others", happening: { does: "change the currency", to: "USD" } }, { step: "diff" }),
      pick<Step>(
        { ...plainApply, maxCost: 1000 },
        { ...plainApply, maxCommitment: 200_000 },
        { ...plainApply, maxMinimum: 1000 },
        { ...plainApply, answer: "y" },
        { step: "run", name: "ci", plan: "tiny", maxCost: 5 },
        { step: "create", key: "k1", name: "Solo_1", plan: "tiny", days: 30, maxCommitment: 9000 }
      )
    )
  ),
  // A limit that equals the cost of all nodes of the fleet together.
  often(
    1,
    sequence(
      plainApply,
      edited(anOrder),
      fc.record({
        step: pick("apply" as const),
        maxDeletes: pick(5),
        replace: pick(true),
        maxUnavailable: pick(1, 2),
        maxCost: pick(24, 30, 36, 48)
      })
    )
  ),
  // A rename that is left unfinished and then reverted, while the old node is off.
  often(
    1,
    sequence(
      plainApply,
      edited(pick<Edit>({ sets: "group name", group: "web", to: "app" })),
      merged(
        fc.record({ weather: pick<Weather>({ neverRuns: true }, { remove: "500" }, { create: "412", times: 1 }) }),
        fc.constant(plainApply)
      ),
      fc.record({
        step: pick("others" as const),
        happening: pick<Happening>({ does: "stop", name: "shop-web-1" }, { does: "stop", name: "shop-web-2" })
      }),
      pick<Step>({ step: "edit", edit: { sets: "everything", to: "as before the last edit" } }),
      apply
    )
  ),
  // A protected node, and ways to delete it.
  often(
    2,
    sequence(
      plainApply,
      edited(pick<Edit>({ sets: "protect", group: "web", to: true })),
      edited(anOrder),
      fc.oneof(apply, fc.constant<Step>({ ...plainApply, replace: true }))
    )
  ),
  // A node that the ledger protects, and attempts to delete it: by hand, by an agent, under another key, or with an older ledger.
  often(
    2,
    joined(
      sequence(
        pick<Step>({ step: "ledger", is: "committed" }, plainApply),
        edited(pick<Edit>({ sets: "protect", group: "web", to: true })),
        plainApply,
        fc.oneof(pick<Step>({ step: "ledger", is: "checked out" }), account, edited())
      ),
      fc.oneof(
        sequence(deletes),
        sequence(
          { step: "propose", action: "delete", name: "shop-web-1" },
          { step: "approve", answer: "y" },
          { step: "execute" }
        )
      )
    )
  ),
  // A node of one fleet, or a node that an interrupted apply of that fleet made. A person adopts it into the other fleet, or twice.
  often(
    2,
    sequence(
      pick<Step>(plainApply, { step: "diff" }),
      fc.oneof(
        edited(pick<Edit>({ sets: "protect", group: "web", to: true }, { sets: "count", group: "web", to: 3 })),
        edited()
      ),
      merged(fc.oneof(cut, troubled), pick<Step>(plainApply, { ...plainApply, replace: true })),
      fc.oneof(
        fc.record({
          step: pick("adopt" as const),
          fleet: pick<Fleet>("other", "other", "shop"),
          name: pick("shop-web-1", "shop-web-2", "shop-web-3"),
          member: pick("x-1", "x-2", "web-3")
        }),
        pick<Step>({ step: "forget", member: "web-1" }, { step: "apply", fleet: "other" })
      ),
      pick<Step>(plainApply, { step: "adopt", fleet: "other", name: "shop-web-1", member: "x-1" }),
      pick<Step>(
        { step: "destroy", fleet: "other" },
        { step: "apply", fleet: "other", maxDeletes: 5, replace: true },
        { step: "destroy" },
        { step: "edit", edit: { sets: "count", group: "x", to: 0 } }
      ),
      pick<Step>({ step: "apply", fleet: "other", maxDeletes: 5 }, plainApply)
    )
  ),
  // Two places side by side, with the same files, keys and names.
  often(
    3,
    joined(
      sequence(fc.oneof(fc.constant(plainApply), create, merged(fc.oneof(cut, troubled), fc.oneof(create, runStep)))),
      sequence({ step: "place", is: "second" }),
      fc.oneof(
        sequence(
          fc.oneof(
            create,
            runStep,
            pick<Step>(plainApply, { step: "reap" }, { step: "destroy" }, { step: "forget", member: "web-1" })
          )
        ),
        sequence(
          pick<Step>({ step: "apply", fleet: "other", maxDeletes: 5 }, sameName("shop-web-1", "small")),
          pick<Step>(
            { step: "adopt", name: "shop-web-1", member: "web-1" },
            { step: "delete", name: "shop-web-1" },
            { step: "delete", name: "Solo_1" }
          )
        ),
        sequence(
          { step: "propose", action: "create", name: "agent", plan: "tiny" },
          { step: "approve", answer: "y" },
          pick<Step>({ step: "place", is: "first" }, { step: "diff" }),
          { step: "execute" }
        )
      ),
      sequence(pick<Step>({ step: "login" }, { step: "place", is: "first" }), { step: "place", is: "first" }),
      sequence(fc.oneof(create, pick<Step>(plainApply, { step: "reap" }, { step: "diff" })))
    )
  ),
  // The machine is started again while a create is open, perhaps with another time on its wall clock.
  often(
    2,
    sequence(
      fc
        .record({
          each: fc.oneof(fc.constant(plainApply), create, runStep),
          weather: seldom(
            pick<Weather>(
              { create: "late" },
              { create: "swallowed" },
              { create: "swallowed", noDate: true },
              { create: "lost", noDate: true }
            )
          ),
          at: pick<Cut>(
            { atRequest: "create", isSent: true, how: "restart" },
            { atRequest: 5, isSent: true, how: "restart" },
            { atRequest: 7, isSent: true, how: "restart" }
          )
        })
        .map(({ at, each, weather }) => compact({ ...each, weather, cut: at }) as Step),
      fc.oneof(
        fc.record({
          step: pick("others" as const),
          happening: fc.record({ does: pick("step the clock" as const), minutes: pick<15 | -15>(15, -15) })
        }),
        fc.constant<Step>({ step: "wait", seconds: 660 })
      ),
      fc.oneof(pick(sameName("ci", "tiny"), sameName("Solo_1", "tiny"), sameName("shop-web-1", "small")), wait),
      merged(
        fc.record({ weather: seldom(pick<Weather>({ noDate: true })) }).map(compact),
        fc.oneof(create, pick<Step>(plainApply, { step: "reap" }, { step: "run", name: "ci", plan: "tiny" }))
      ),
      fc.oneof(create, pick<Step>(plainApply, { step: "reap" }, { step: "destroy" }))
    )
  ),
  // The disk fails in the middle of a change, and the next command finds what is left.
  often(
    3,
    sequence(
      fc.oneof(fc.constant(plainApply), edited()),
      edited(),
      merged(
        fc.record({ disk }),
        fc.oneof(
          create,
          runStep,
          pick<Step>(
            { ...plainApply, replace: true },
            { step: "destroy" },
            { step: "reap" },
            {
              step: "delete",
              name: "shop-web-1"
            }
          )
        )
      ),
      pick<Step>({ step: "wait", seconds: 15 }, { step: "wait", seconds: 660 }),
      fc.oneof(create, pick<Step>(plainApply, { step: "reap" }, { step: "diff" }))
    )
  ),
  // The node of an interrupted run, which another machine has adopted into a fleet.
  often(
    1,
    sequence(
      edited(pick<Edit>({ sets: "protect", group: "web", to: true }, { sets: "plan", group: "web", to: "tiny" })),
      plainApply,
      fc.integer({ min: 6, max: 9 }).map((atRequest): Step => ({
        step: "run",
        name: "ci",
        plan: "tiny",
        cut: { atRequest, isSent: true, how: "kill" }
      })),
      pick<Step>({ step: "adopt", name: "ci", member: "web-3", machine: "second", handsBack: true }),
      pick<Step>({ step: "wait", seconds: 15 }, { step: "wait", seconds: 3600 }),
      pick<Step>({ step: "reap" }, { step: "run", name: "ci", plan: "tiny" })
    )
  ),
  // A limit on deletes.
  often(
    2,
    sequence(
      plainApply,
      edited(fc.oneof(anOrder, fc.record({ sets: pick("count" as const), group: pick("web"), to: pick(0, 1) }))),
      merged(
        around,
        fc
          .record({
            step: pick("apply" as const),
            maxDeletes: pick(0, 1, undefined),
            replace: pick(true, undefined)
          })
          .map(compact)
      ),
      pick<Step>(plainApply, { step: "destroy", maxDeletes: 1 }, { step: "apply", maxDeletes: 1, replace: true })
    )
  ),
  // A limit on minimum charges, which may rise.
  often(
    2,
    sequence(
      edited(fc.oneof(aPlan, fc.record({ sets: pick("count" as const), group: pick("web"), to: pick(1, 3) }))),
      pick<Step>(
        { step: "others", happening: { does: "raise minimums", plan: "small", times: 2 } },
        { step: "apply", weather: { create: "swallowed" } },
        plainApply
      ),
      merged(
        fc.oneof(around, asked),
        fc.oneof(
          fc.record({ step: pick("apply" as const), maxDeletes: pick(5), maxMinimum: pick(36, 288, 300, 580) }),
          fc.record({
            step: pick("create" as const),
            key: pick("k2"),
            name: pick("row"),
            plan: pick<PlanName>("tiny"),
            count: pick(2, 3),
            maxMinimum: pick(36, 80, 200)
          }),
          fc.record({
            step: pick("run" as const),
            name: pick("ci"),
            plan: pick<PlanName>("tiny", "flat"),
            maxMinimum: pick(30, 99, 200)
          })
        )
      )
    )
  ),
  // The same idempotency keys with other credentials, or with the same credentials from another source.
  often(
    2,
    sequence(
      pick<Step>({ step: "login" }, { step: "login" }, { step: "diff" }),
      fc.oneof(often(3, create), often(1, runStep)),
      fc.oneof(pick<Step>({ step: "account", has: "second key" }), account),
      pick<Step>({ step: "login" }, { step: "login" }, { step: "logout" }),
      fc.oneof(often(3, create), often(1, pick<Step>({ step: "reap" })))
    )
  ),
  // An older version of the ledger, from git.
  often(
    1,
    sequence(
      pick<Step>(plainApply, { step: "diff" }),
      pick<Step>({ step: "ledger", is: "committed" }),
      edited(),
      merged(around, fc.constant<Step>({ ...plainApply, replace: true })),
      pick<Step>({ step: "ledger", is: "checked out" }),
      fc.oneof(apply, fc.constant<Step>({ step: "destroy" }))
    )
  ),
  // A single 404 for a node that exists.
  often(
    1,
    sequence(
      plainApply,
      edited(),
      pick<Step>(
        { ...plainApply, replace: true, weather: { falseMissing: "once" } },
        { step: "destroy", weather: { falseMissing: "once" } }
      ),
      plainApply
    )
  ),
  often(
    1,
    sequence(
      plainApply,
      edited(pick<Edit>({ sets: "group name", group: "web", to: "app" })),
      merged(troubled, fc.constant(plainApply))
    )
  ),
  // Another machine that has the same files.
  often(
    1,
    sequence(
      edited(),
      pick<Step>({ step: "apply", maxDeletes: 5, machine: "second" }),
      pick<Step>(plainApply, { ...plainApply, weather: { hiddenForSeconds: 60 } }),
      pick<Step>({ step: "wait", seconds: 60 }),
      pick<Step>({ step: "diff" }, plainApply)
    )
  ),
  // A machine is interrupted while it repeats a create, perhaps long after the first attempt. Another machine continues with its ledger.
  often(
    2,
    sequence(
      pick<Step>(plainApply, { ...plainApply, weather: { create: "swallowed" } }),
      fc.oneof(fc.record({ step: pick("wait" as const), seconds: pick(660, 3600) }), edited(anOrder)),
      fc
        .record({
          weather: pick<Weather>({ create: "late" }, { create: "swallowed" }, { create: "lost" }),
          cut: fc.record({
            atRequest: fc.integer({ min: 10, max: 19 }),
            isSent: pick(true),
            how: pick("kill" as const, "interrupt" as const)
          })
        })
        .map((around): Step => ({ ...plainApply, replace: true, ...around })),
      fc.oneof(fc.constant(elsewhere), wait),
      fc.constant(elsewhere),
      pick<Step>(plainApply, { step: "diff" })
    )
  ),
  // A change between the question and the answer.
  often(
    2,
    sequence(
      fc.record({ step: pick("apply" as const), answer: pick("y" as const), maxDeletes: pick(5), meanwhile: happening })
    )
  ),
  often(
    1,
    sequence(
      plainApply,
      edited(),
      fc.record({ step: pick("apply" as const), answer: pick("y" as const), replace: pick(true), meanwhile: happening })
    )
  ),
  // A service that spells names in its own way.
  often(
    1,
    sequence(
      merged(
        fc.record({ weather: fc.record({ spelling: pick("dashes" as const, "lower" as const, "cut" as const) }) }),
        create
      ),
      wait,
      create
    )
  ),
  often(
    1,
    sequence(
      edited(pick<Edit>({ sets: "name", group: "web", to: "Web_{n}" })),
      merged(
        fc.record({ weather: fc.record({ spelling: pick("dashes" as const, "lower" as const) }) }),
        fc.constant(plainApply)
      ),
      wait,
      apply
    )
  ),
  // A command is interrupted, and another one continues its work.
  often(
    2,
    sequence(
      plainApply,
      edited(),
      merged(cut, fc.constant<Step>({ ...plainApply, replace: true })),
      fc.oneof(edited(), wait),
      pick<Step>(plainApply, { ...plainApply, replace: true }, { step: "destroy" })
    )
  ),
  often(
    1,
    sequence(
      merged(cut, runStep),
      wait,
      pick<Step>(
        { step: "reap" },
        { step: "reap", weather: { falseMissing: "once" } },
        { step: "run", name: "ci", plan: "tiny" }
      )
    )
  ),
  often(
    1,
    sequence(merged(fc.record({ stateGoneAt: fc.integer({ min: 2, max: 8 }) }), runStep), pick<Step>({ step: "reap" }))
  ),
  // Commitments within a limit.
  often(
    1,
    sequence(
      edited(pick<Edit>({ sets: "commitment", group: "web", to: 30 }, { sets: "commitment", group: "web", to: 365 })),
      merged(
        around,
        fc.record({ step: pick("apply" as const), maxDeletes: pick(5), maxCommitment: pick(9000, 200_000) })
      ),
      edited(),
      fc.record({
        step: pick("apply" as const),
        replace: pick(true),
        maxDeletes: pick(5),
        maxCommitment: pick(9000, 200_000)
      })
    )
  ),
  // A node that a person adopts into the fleet.
  often(
    1,
    sequence(
      sameName("shop-web-1", "small"),
      pick<Step>({ step: "adopt", name: "shop-web-1", member: "web-1" }),
      edited(),
      apply
    )
  ),
  // The account differs from the file, and a command has to report this.
  often(1, sequence(plainApply, edited(), pick<Step>({ step: "diff" }))),
  // The reply to a commitment is lost, and the user tries again.
  often(
    1,
    sequence(
      create,
      merged(
        fc.record({ weather: fc.record({ commit: trouble, times: pick(1, 2) }) }),
        fc.constant<Step>({ step: "commitment", name: "Solo_1", days: 30, answer: "y" })
      ),
      pick<Step>(
        { step: "commitment", name: "Solo_1", days: 30, answer: "y" },
        { step: "commitment", name: "Solo_1", days: 365, maxCommitment: 200_000 },
        { step: "commitment", name: "Solo_1", days: 30 }
      )
    )
  ),
  // A person checks whether the purchase was carried out.
  often(
    1,
    sequence(
      create,
      fc.record({
        step: pick("commitment" as const),
        name: pick("Solo_1"),
        days: pick(30),
        answer: pick("y" as const),
        weather: fc.record({ commit: pick<Trouble>("lost", "swallowed", "late") })
      }),
      pick<Step>({ step: "wait", seconds: 660 }),
      pick<Step>({ step: "found", name: "Solo_1" }, { step: "account", has: "second key" }),
      pick<Step>(
        { step: "found", name: "Solo_1" },
        { step: "commitment", name: "Solo_1", days: 30, maxCommitment: 200_000 }
      )
    )
  ),
  // A create that buys a period, with and without a limit.
  often(
    1,
    sequence(
      merged(
        around,
        fc
          .record({
            step: pick("create" as const),
            key: pick("k1"),
            name: pick("Solo_1"),
            plan: pick<PlanName>("tiny"),
            days: pick(30, 365),
            maxCommitment: pick(undefined, 100, 9000)
          })
          .map(compact)
      )
    )
  ),
  often(
    1,
    sequence(
      plainApply,
      edited(pick<Edit>({ sets: "commitment", group: "web", to: 30 })),
      merged(fc.record({ weather: fc.record({ commit: trouble }) }), fc.constant<Step>({ ...plainApply, answer: "y" })),
      plainApply
    )
  ),
  // A purchase with an unknown outcome. Then its node leaves the fleet or comes back, or another machine continues.
  often(
    1,
    sequence(
      plainApply,
      edited(pick<Edit>({ sets: "commitment", group: "web", to: 30 })),
      fc.record({
        step: pick("apply" as const),
        maxCommitment: pick(200_000),
        weather: fc.record({ commit: pick<Trouble>("lost", "swallowed", "late"), times: pick(1, 2) })
      }),
      fc.oneof(
        pick<Step>({ step: "forget", member: "web-1" }, { ...plainApply, replace: true }, { step: "destroy" }),
        edited()
      ),
      pick<Step>(
        { step: "adopt", name: "shop-web-1", member: "web-1" },
        { step: "adopt", name: "shop-web-1", member: "web-3" }
      ),
      fc.constant(elsewhere),
      pick<Step>({ ...plainApply, maxCommitment: 200_000 }, { step: "diff" })
    )
  ),
  // Two of these buy the same period: a person, an agent, or the fleet that adopts the node.
  often(
    2,
    sequence(
      fc.oneof(fc.constant(plainApply), create),
      edited(pick<Edit>({ sets: "commitment", group: "web", to: 30 })),
      fc.record({
        step: pick("propose" as const),
        action: pick("commit" as const),
        name: pick("shop-web-1", "Solo_1"),
        days: pick(30)
      }),
      fc.record({
        step: pick("commitment" as const),
        name: pick("shop-web-1", "Solo_1"),
        days: pick(30),
        answer: pick("y" as const)
      }),
      pick<Step>(
        { step: "approve", answer: "y" },
        { step: "adopt", name: "Solo_1", member: "web-1" },
        { ...plainApply, maxCommitment: 200_000 }
      ),
      pick<Step>(
        { step: "execute" },
        { ...plainApply, answer: "y" },
        { ...plainApply, replace: true, maxCommitment: 200_000 }
      )
    )
  ),
  // A limit on a plan that has no price per hour.
  often(
    1,
    sequence(
      edited(pick<Edit>({ sets: "plan", group: "web", to: "flat" })),
      merged(around, fc.record({ step: pick("apply" as const), maxDeletes: pick(5), maxCost: pick(2, 5, 9) }))
    )
  ),
  // A create is left open, and the clock steps before a command looks for its node or forgets it.
  often(
    2,
    sequence(
      merged(troubled, fc.oneof(fc.constant(plainApply), create)),
      fc.oneof(fc.constant(sameName("shop-web-1", "small")), wait),
      fc.record({
        step: pick("others" as const),
        happening: fc.record({ does: pick("step the clock" as const), minutes: pick<15 | -15>(15, -15) })
      }),
      pick<Step>(
        plainApply,
        { step: "forget", member: "web-1" },
        { step: "create if absent", name: "Solo_1", plan: "tiny" }
      ),
      plainApply
    )
  ),
  // A create is left open, and somebody else makes a node of its name.
  often(
    3,
    sequence(
      merged(troubled, runStep),
      wait,
      pick(sameName("ci", "tiny"), sameName("ci", "small")),
      pick<Step>({ step: "reap" }, { step: "run", name: "ci", plan: "tiny" })
    )
  ),
  often(1, sequence(merged(troubled, create), wait, sameName("Solo_1", "tiny"), create)),
  often(
    1,
    sequence(
      merged(troubled, fc.constant(plainApply)),
      wait,
      sameName("shop-web-1", "small"),
      pick<Step>({ step: "destroy" }, plainApply)
    )
  ),
  often(1, sequence(runStep, wait, others, pick<Step>({ step: "reap" }))),
  often(
    1,
    sequence(
      fc.record({
        step: pick("propose" as const),
        action: pick("create" as const),
        name: pick("agent"),
        plan: pick<PlanName>("tiny")
      }),
      fc.oneof(fc.constant<Step>({ step: "wait", seconds: 15 }), others),
      fc.record({ step: pick("approve" as const), answer: pick("y" as const) }),
      merged(around, fc.record({ step: pick("execute" as const) }))
    )
  )
)

export const histories: fc.Arbitrary<History> = fc
  .array(phrase, { minLength: 1, maxLength: 5 })
  .map((phrases) => phrases.flat())

/** Simpler versions of a step, each without one of its optional values. */
const without = (each: Step): ReadonlyArray<Step> =>
  Object.keys(each)
    .filter((key) =>
      [
        "weather",
        "cut",
        "maxCommitment",
        "meanwhile",
        "answer",
        "stateGoneAt",
        "machine",
        "handsBack",
        "replace",
        "maxCost",
        "maxDeletes",
        "maxMinimum",
        "wait",
        "reuse",
        "fails",
        "columns",
        "count",
        "maxUnavailable",
        "pick",
        "ready",
        "clock",
        "disk"
      ].includes(key)
    )
    .map((key) => Object.fromEntries(Object.entries(each).filter((entry) => entry[0] !== key)) as unknown as Step)

/** Shrinks a history as far as it still breaks the rule. */
export const shrunk = async (history: History, rule: string): Promise<History> => {
  const breaks = async (candidate: History) => (await play(candidate, (each) => each.rule !== rule)).broken.length > 0
  let shortest = history
  for (let isShorter = true; isShorter;) {
    isShorter = false
    for (let at = shortest.length - 1; at >= 0; at--) {
      const fewer = shortest.toSpliced(at, 1)
      if (await breaks(fewer)) {
        shortest = fewer
        isShorter = true
        continue
      }
      for (const simpler of without(shortest[at]!)) {
        const candidate = shortest.with(at, simpler)
        if (!(await breaks(candidate))) continue
        shortest = candidate
        isShorter = true
        break
      }
    }
  }
  return shortest
}
