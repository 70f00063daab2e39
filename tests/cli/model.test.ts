/**
 * Checks Berth against a model of the world: random histories of commands, edits, faults and changes by other programs, and rules that must
 * hold after each command. Histories that once revealed a bug are kept below as plain steps.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { isSoak } from "@berthkit/testing/chance"
import * as fc from "fast-check"
import { histories, play, shrunk, warmUp } from "./model/histories.ts"
import { type History, scriptOf } from "./model/steps.ts"

beforeAll(warmUp)

/** Stop the search after this many bugs. */
const maxFound = 20

describe("any history of commands, edits, faults and foreign hands", () => {
  it(
    "sends what was shown, deletes what is its own, and makes one node for one key",
    async () => {
      const found = new Map<string, { readonly history: History; readonly at: number }>()
      let played = 0
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          if (found.size >= maxFound) return
          const at = ++played
          for (const { rule } of (await play(history)).broken) if (!found.has(rule)) found.set(rule, { history, at })
        }),
        { numRuns: 200 }
      )
      const reports: Array<string> = []
      for (const [rule, { at, history }] of found) {
        const short = await shrunk(history, rule)
        const { broken } = await play(short, (each) => each.rule !== rule)
        reports.push(
          `${rule}, in history ${at} of ${played}: ${broken.find((each) => each.rule === rule)?.why}\n${scriptOf(short)}`
        )
      }
      if (reports.length > 0) assert.fail(`\n${reports.join("\n\n")}\n`)
    },
    isSoak ? 0 : 600_000
  )
})

const apply = { step: "apply", maxDeletes: 5 } as const
const replaceAll = { ...apply, replace: true } as const
const hour = { step: "wait", seconds: 3600 } as const
const createSolo = { step: "create", key: "k1", name: "Solo_1", plan: "tiny" } as const
const somebodyCreates = (name: string, plan: "tiny" | "small") =>
  ({ step: "others", happening: { does: "create", name, plan } }) as const

/** Each title states the behaviour that must hold. */
const kept: Readonly<Record<string, History>> = {
  "a protected node is not replaced by another image": [
    apply,
    { step: "edit", edit: { sets: "protect", group: "web", to: true } },
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    replaceAll
  ],
  "a protected node is not replaced because its tags are in another order": [
    { step: "edit", edit: { sets: "tags", group: "web", to: ["a", "b"] } },
    apply,
    { step: "edit", edit: { sets: "protect", group: "web", to: true } },
    { step: "edit", edit: { sets: "tags", group: "web", to: ["b", "a"] } },
    replaceAll
  ],
  "a create that was refused for an expensive plan is not sent once the file wants a cheap one": [
    { step: "edit", edit: { sets: "plan", group: "web", to: "huge" } },
    { ...apply, weather: { create: "429" } },
    { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } },
    { ...apply, maxCost: 4 },
    hour,
    { ...apply, maxCost: 4 }
  ],
  "a create that never arrived is not sent once the file wants another plan": [
    { ...apply, weather: { create: "swallowed" } },
    { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } },
    hour,
    apply
  ],
  "a replacement that was refused and then reverted leaves the node that is as the file says": [
    apply,
    { step: "edit", edit: { sets: "plan", group: "web", to: "huge" } },
    { ...replaceAll, weather: { create: "429" } },
    { step: "edit", edit: { sets: "everything", to: "as before the last edit" } },
    replaceAll,
    hour,
    replaceAll
  ],
  "somebody else's later node is not reaped as that of a run whose create never arrived": [
    {
      step: "run",
      name: "ci",
      plan: "tiny",
      weather: { create: "swallowed", times: 1 },
      cut: { atRequest: 4, isSent: true, how: "kill" }
    },
    hour,
    somebodyCreates("ci", "tiny"),
    { step: "reap" }
  ],
  "somebody else's later node is not deleted by the next run": [
    {
      step: "run",
      name: "ci",
      plan: "tiny",
      weather: { create: "500", times: 1 },
      cut: { atRequest: 6, isSent: true, how: "kill" }
    },
    hour,
    somebodyCreates("ci", "tiny"),
    { step: "run", name: "ci", plan: "tiny" }
  ],
  "somebody else's later node is not destroyed with a fleet": [
    { ...apply, weather: { create: "swallowed" } },
    hour,
    somebodyCreates("shop-web-1", "small"),
    { step: "destroy" }
  ],
  "somebody else's later node is not taken into a fleet": [
    { ...apply, weather: { create: "swallowed" } },
    hour,
    somebodyCreates("shop-web-1", "small"),
    apply
  ],
  "a member whose create never arrived is not made beside somebody else's later node": [
    { ...apply, weather: { create: "swallowed" } },
    hour,
    somebodyCreates("shop-web-1", "small"),
    { step: "wait", seconds: 60 },
    { step: "diff" },
    apply,
    { step: "diff" },
    { step: "fleet" }
  ],
  "somebody else's node with the name of a member is shown and not offered for deletion": [
    apply,
    somebodyCreates("shop-web-1", "small"),
    { step: "wait", seconds: 60 },
    { step: "diff" },
    apply,
    { step: "fleet" },
    { step: "destroy" }
  ],
  "somebody else's later node is not taken for the node of a key": [
    { ...createSolo, weather: { create: "swallowed" } },
    hour,
    somebodyCreates("Solo_1", "tiny"),
    createSolo
  ],
  "somebody else's node is not taken for that of a key which was refused long before, and is sent again right after it":
    [
      { ...createSolo, weather: { create: "429" } },
      hour,
      somebodyCreates("Solo_1", "tiny"),
      { ...createSolo, weather: { create: "swallowed", times: 2 } }
    ],
  "a create that is open is not forgotten because the clock of the machine steps": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { ...apply, weather: { create: "late" } },
    somebodyCreates("shop-web-1", "small"),
    somebodyCreates("shop-web-1", "small"),
    apply,
    { step: "others", happening: { does: "step the clock", minutes: 15 } },
    { step: "forget", member: "web-1" }
  ],
  "a node that an apply made which was cut off is not taken in by another fleet": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { ...apply, cut: { atRequest: 5, isSent: true, how: "kill" } },
    { step: "adopt", fleet: "other", name: "shop-web-1", member: "x-1" },
    apply,
    { step: "destroy", fleet: "other", answer: "y" }
  ],
  "a node of a fleet is not taken in by another fleet under another API key": [
    apply,
    { step: "account", has: "second key" },
    { step: "adopt", fleet: "other", name: "shop-web-1", member: "x-1" }
  ],
  "a node that an apply made which was cut off is not taken in twice": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { ...apply, cut: { atRequest: 5, isSent: true, how: "kill" } },
    { step: "adopt", name: "shop-web-1", member: "web-3" },
    apply,
    { step: "diff" }
  ],
  "a node that a person has taken in under another name does not differ": [
    createSolo,
    { step: "adopt", name: "Solo_1", member: "web-1" },
    { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } },
    apply,
    { step: "diff" }
  ],
  "the nodes of a group that was renamed stay while the new ones are refused": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { create: "412" } }
  ],
  "the nodes of a group that was renamed stay until the new ones run": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { neverRuns: true } }
  ],
  "the nodes of a group that was renamed stay if a new one goes off while another one is awaited": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { firstNode: "off" } }
  ],
  "the nodes of a group that was renamed stay if a new one is gone while another one is awaited": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { firstNode: "gone" } }
  ],
  "an old node stays if its replacement goes off while a period is bought for it": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { ...replaceAll, maxCommitment: 200_000, weather: { firstNode: "off" } }
  ],
  "an old node stays if its replacement is gone while a period is bought for it": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { ...replaceAll, maxCommitment: 200_000, weather: { firstNode: "gone" } }
  ],
  "a new node stays after its group got its old name back, while the old nodes are off": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { remove: "500" } },
    { step: "others", happening: { does: "stop", name: "shop-web-1" } },
    { step: "edit", edit: { sets: "everything", to: "as before the last edit" } },
    apply
  ],
  "an old node stays while its replacement is not ready, also if two are replaced at once": [
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { ...replaceAll, maxUnavailable: 2, ready: false }
  ],
  "two replacements at once stay within the limit": [
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { ...replaceAll, maxUnavailable: 2, maxCost: 36 }
  ],
  "a name that a node has is created once if it is to be absent": [
    { step: "create if absent", name: "Solo_1", plan: "tiny" },
    { step: "create if absent", name: "Solo_1", plan: "tiny" }
  ],
  "a new node stays while an old one that the file wants again, now with a commitment, is off": [
    apply,
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { ...apply, weather: { neverRuns: true } },
    { step: "others", happening: { does: "stop", name: "shop-web-2" } },
    { step: "edit", edit: { sets: "everything", to: "as before the last edit" } },
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { step: "apply", answer: "y" }
  ],
  "a row of creates stays within the limit for all of them": [
    { step: "create", key: "k2", name: "row", plan: "tiny", count: 3, maxCost: 4 },
    { step: "create", key: "k2", name: "row", plan: "tiny", count: 2, maxCost: 4, answer: "y", columns: 40 }
  ],
  "a node is protected once any command has said so, also when its group has another name": [
    apply,
    { step: "edit", edit: { sets: "protect", group: "web", to: true } },
    { step: "destroy" },
    { step: "edit", edit: { sets: "group name", group: "web", to: "app" } },
    { step: "wait", seconds: 20 },
    apply
  ],
  "the next apply reports a replacement that was cut off, with its exit code": [
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { ...replaceAll, cut: { atRequest: 10, isSent: true, how: "interrupt" } },
    hour,
    apply
  ],
  "a commitment is bought with its price shown, within a bound or after a yes": [
    { step: "edit", edit: { sets: "commitment", group: "web", to: 365 } },
    apply,
    { ...apply, answer: "y" }
  ],
  "a commitment whose reply is lost is not sent again": [
    createSolo,
    { step: "commitment", name: "Solo_1", days: 30, answer: "y", weather: { commit: "lost" } }
  ],
  "a commitment of a fleet whose reply is lost is not sent again": [
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { ...apply, answer: "y", weather: { commit: "lost" } }
  ],
  "a limit in rupees lets no price in another currency pass": [
    { step: "others", happening: { does: "change the currency", to: "USD" } },
    { ...apply, maxCost: 1000 },
    { ...apply, maxMinimum: 1000 },
    apply,
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { ...apply, maxCommitment: 200_000 },
    { ...apply, answer: "y" }
  ],
  "a price that rises while the question is open is asked about again": [
    { ...apply, answer: "y", meanwhile: { does: "raise prices", plan: "small", times: 2 } }
  ],
  "a node of the same name that comes while the question is open stays the only one": [
    { ...apply, answer: "y", meanwhile: { does: "create", name: "shop-web-2", plan: "tiny" } }
  ],
  "a member with a second node from another machine is a difference": [
    { ...apply, machine: "second" },
    { ...apply, weather: { hiddenForSeconds: 60 } },
    { step: "wait", seconds: 60 },
    { step: "diff" }
  ],
  "another machine waits from the instant at which a create was sent again": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { ...apply, weather: { create: "swallowed" } },
    hour,
    { ...apply, weather: { create: "late" }, cut: { atRequest: 11, isSent: true, how: "kill" } },
    { ...apply, machine: "second", handsBack: true },
    { step: "wait", seconds: 660 },
    { ...apply, machine: "second", handsBack: true },
    apply
  ],
  "another machine waits from the instant at which the create of a replacement was sent": [
    apply,
    { step: "edit", edit: { sets: "image", group: "web", to: "debian" } },
    { ...replaceAll, weather: { create: "late", times: 1 } },
    { ...replaceAll, machine: "second", handsBack: true },
    { step: "wait", seconds: 660 },
    { ...replaceAll, machine: "second", handsBack: true },
    replaceAll,
    { step: "diff" }
  ],
  "another machine does not buy what got no reply once the node was taken out and in again": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { step: "edit", edit: { sets: "commitment", group: "web", to: 30 } },
    { ...apply, maxCommitment: 200_000, weather: { commit: "lost" } },
    { step: "forget", member: "web-1" },
    { step: "adopt", name: "shop-web-1", member: "web-1" },
    { ...apply, maxCommitment: 200_000, machine: "second", handsBack: true }
  ],
  "another name in the file is a difference": [
    apply,
    { step: "edit", edit: { sets: "name", group: "web", to: "Web_{n}" } },
    { step: "diff" }
  ],
  "a key makes one node and its id is printed if the service spells the name in another way": [
    { ...createSolo, weather: { spelling: "dashes" } },
    hour,
    createSolo
  ],
  "a member has one node and its id is printed if the service spells the name in another way": [
    { step: "edit", edit: { sets: "name", group: "web", to: "Web_{n}" } },
    { ...apply, weather: { spelling: "dashes" } },
    hour,
    apply
  ],
  "a run whose state folder is gone after the create still deletes its node": [
    { step: "run", name: "ci", plan: "small", stateGoneAt: 3 }
  ],
  "a run whose state folder is gone while it waits still deletes its node": [
    { step: "run", name: "ci", plan: "small", stateGoneAt: 5 }
  ],
  "a run that is interrupted while its node cannot be deleted names the node": [
    {
      step: "run",
      name: "ci",
      plan: "small",
      weather: { remove: "500" },
      cut: { atRequest: 10, isSent: false, how: "interrupt" }
    }
  ],
  "a run that is killed between its create and the reply leaves a lease that reap finds": [
    { step: "run", name: "ci", plan: "tiny", cut: { atRequest: "create", isSent: true, how: "kill" } },
    { step: "wait", seconds: 15 },
    { step: "reap" }
  ],
  "reap finds the node of a run once its lease is over, also if the machine was started again": [
    { step: "run", name: "ci", plan: "tiny", cut: { atRequest: "create", isSent: true, how: "restart" } },
    { step: "wait", seconds: 86_400 },
    { step: "reap" }
  ],
  "after a restart of the machine, somebody else's later node is not taken for the node of a key": [
    {
      ...createSolo,
      weather: { create: "swallowed", noDate: true },
      cut: { atRequest: "create", isSent: true, how: "restart" }
    },
    { step: "wait", seconds: 660 },
    somebodyCreates("Solo_1", "tiny"),
    { ...createSolo, weather: { noDate: true } }
  ],
  "a key whose record cannot be read makes no second node": [
    createSolo,
    { ...createSolo, disk: { atRequest: 0, is: "unreadable files" } }
  ],
  "a key makes one node if the disk is full when the reply comes": [
    { ...createSolo, disk: { atRequest: 3, is: "full" } },
    createSolo
  ],
  "a protected node stays if the records of this machine cannot be read": [
    { step: "edit", edit: { sets: "protect", group: "web", to: true } },
    apply,
    { step: "delete", name: "shop-web-1", disk: { atRequest: 0, is: "unreadable files" } }
  ],
  "a node whose deletion came to nothing stays in the ledger, also while its replacement ends": [
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    apply,
    { step: "edit", edit: { sets: "plan", group: "web", to: "tiny" } },
    { ...replaceAll, weather: { remove: "400" } },
    { step: "edit", edit: { sets: "count", group: "web", to: 0 } },
    { ...apply, weather: { remove: "ignored", times: 1 } },
    { step: "edit", edit: { sets: "count", group: "web", to: 1 } },
    { step: "edit", edit: { sets: "name", group: "web", to: "app-{n}" } },
    apply,
    hour,
    apply
  ],
  "two places have their own keys, and the ledger of one is refused in the other": [
    createSolo,
    apply,
    { step: "place", is: "second" },
    createSolo,
    apply,
    { step: "destroy" },
    { step: "place", is: "first" },
    { step: "diff" }
  ],
  "a proposal is not carried out in another place": [
    { step: "propose", action: "create", name: "agent", plan: "tiny" },
    { step: "approve", answer: "y" },
    { step: "place", is: "second" },
    { step: "execute" }
  ],
  "an agent's create is named also if its result cannot be kept": [
    { step: "propose", action: "create", name: "agent", plan: "tiny" },
    { step: "approve", answer: "y" },
    { step: "execute", stateGoneAt: 3 }
  ]
}

describe("histories that once showed a fault", () => {
  it.each(Object.entries(kept))("%s", async (_, history) => {
    const { broken, ran } = await play(history)
    const text = ran.map(({ args, code, stderr }) => `berth ${args.join(" ")}\n${stderr}exit ${code}`).join("\n")
    assert.deepStrictEqual(broken, [], `${text}\n${scriptOf(history)}`)
  })
})
