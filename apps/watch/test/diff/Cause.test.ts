import type { Change } from "@berthkit/core/client/state/Change"
import { describe, expect, it } from "@effect/vitest"
import { DateTime } from "effect"
import { type Deletion, type Ending, explainByCommitment, explainByDelete } from "../../src/diff/Cause.ts"
import { aChange } from "./aChange.ts"
import { aNode } from "./aNode.ts"

const minute = 60_000
const hour = 60 * minute
const createdMillis = Date.UTC(2026, 10, 1)
const goneMillis = Date.UTC(2026, 10, 30)

const deletion = (over: Partial<Deletion> = {}): Deletion => ({
  before: aNode({ id: 7, createdAtMillis: createdMillis }),
  fromMillis: goneMillis - minute,
  toMillis: goneMillis,
  ...over
})

const change = (over: Partial<Change> = {}, atMillis = goneMillis - 2 * minute): Change =>
  aChange({ at: new Date(atMillis).toISOString(), ...over })

const explain = (deletion: Deletion, changes: ReadonlyArray<Change>, ending?: Ending) =>
  explainByDelete(deletion, changes) ?? explainByCommitment(deletion, changes, ending)

const causeOf = (changes: ReadonlyArray<Change>, ending?: Ending, over?: Partial<Deletion>) =>
  explain(deletion(over), changes, ending)?.cause ?? "unknown"

describe("the cause of a deletion", () => {
  it("says who asked for it, and when", () => {
    const shop = { command: "apply", fleet: "shop", job: "shop/web 42" }
    expect(explain(deletion(), [change(shop)])).toEqual({
      cause: "requested",
      causedBy: {
        at: DateTime.makeUnsafe(goneMillis - 2 * minute),
        command: "apply",
        fleet: "shop",
        lease: null,
        user: "ann",
        host: "laptop",
        job: "shop/web 42"
      }
    })
    expect(causeOf([change({ command: "reap", lease: "run-1" })])).toBe("lease")
    expect(causeOf([change({ command: "api", outcome: "sent" })])).toBe("requested")
  })

  it("is unknown without an entry about this node that may have been carried out", () => {
    expect(explain(deletion(), [])).toBe(undefined)
    expect(causeOf([change({ node: 8 })])).toBe("unknown")
    expect(causeOf([change({ outcome: "failed" })])).toBe("unknown")
    expect(causeOf([change({ action: "create", outcome: "created" })])).toBe("unknown")
    expect(causeOf([change({ at: "some day" })])).toBe("unknown")
  })

  it("is no delete of an earlier node with the same id", () => {
    expect(causeOf([change({}, createdMillis - hour)])).toBe("unknown")
    // The clocks may differ.
    expect(causeOf([change({}, createdMillis - minute)])).toBe("requested")
    const undated = { before: aNode({ id: 7, createdAt: null }) }
    expect(causeOf([change({}, createdMillis - hour)], undefined, undated)).toBe("requested")
  })

  it("is a delete without a known outcome, unless the node lived on", () => {
    const lost = { outcome: "unknown" } as const
    expect(causeOf([change(lost)])).toBe("requested")
    expect(causeOf([change(lost, goneMillis - 2 * hour)])).toBe("unknown")
    // The daemon saw the service delete the node.
    const going = { before: aNode({ id: 7, status: "terminate", createdAtMillis: createdMillis }) }
    expect(causeOf([change(lost, goneMillis - 2 * hour)], undefined, going)).toBe("requested")
  })

  it("is the delete that is known to have succeeded, if there are several", () => {
    const several = [change({ user: "bob", outcome: "unknown" }, goneMillis - minute), change()]
    expect(explain(deletion(), several)?.causedBy?.user).toBe("ann")
  })

  it("is the end of the commitment, with who set it", () => {
    const set = change({ action: "commitment", asked: "auto_terminate", outcome: "set" }, createdMillis + hour)
    const ending = { setMillis: createdMillis + hour, untilMillis: goneMillis - minute }
    expect(explain(deletion(), [set], ending)).toMatchObject({ cause: "commitment", causedBy: { user: "ann" } })
    expect(explain(deletion(), [], ending)).toMatchObject({
      cause: "commitment",
      causedBy: { at: DateTime.makeUnsafe(ending.setMillis), user: null, command: null }
    })
    // The machine that set it has a clock that is ten minutes ahead; the log has the time of the store.
    const ahead = { ...ending, setMillis: createdMillis + hour + 10 * minute }
    expect(explain(deletion(), [set], ahead)?.causedBy?.at).toEqual(DateTime.makeUnsafe(createdMillis + hour))
    const made = change({ action: "create", outcome: "created", user: "bob" }, createdMillis)
    expect(explain(deletion(), [made], ending)).toMatchObject({ causedBy: { user: "bob" } })
    // A person deleted the node before the end of its period.
    expect(causeOf([change(), set], ending)).toBe("requested")
  })

  it("is a commitment that a program set, which is only in the log", () => {
    const set = (asked: string, over: Partial<Change> = {}, atMillis = createdMillis + hour) =>
      change({ action: "commitment", asked, outcome: "set", command: "shop.mjs", ...over }, atMillis)
    const later = createdMillis + 2 * hour
    expect(explain(deletion(), [set("auto_terminate")])).toMatchObject({
      cause: "commitment",
      causedBy: { at: DateTime.makeUnsafe(createdMillis + hour), command: "shop.mjs" }
    })
    expect(causeOf([set("auto_terminate with the committed option 3")])).toBe("commitment")
    expect(causeOf([set("auto_terminate", { outcome: "unknown" })])).toBe("commitment")
    expect(causeOf([set("auto_renew")])).toBe("unknown")
    expect(causeOf([set("auto_terminate", { outcome: "failed" })])).toBe("unknown")
    expect(causeOf([set("auto_terminate", { node: 8 })])).toBe("unknown")
    expect(causeOf([set("auto_terminate", {}, createdMillis - hour)])).toBe("unknown")
    // The last setting counts, if it was certainly accepted.
    expect(causeOf([set("auto_renew", {}, later), set("auto_terminate")])).toBe("unknown")
    expect(causeOf([set("auto_renew", { outcome: "unknown" }, later), set("auto_terminate")])).toBe("commitment")
    const ending = { setMillis: createdMillis + hour, untilMillis: goneMillis - minute }
    expect(causeOf([set("auto_renew", {}, later)], ending)).toBe("unknown")
    expect(causeOf([set("auto_renew", {}, createdMillis)], ending)).toBe("commitment")
    const made = (asked: string) => change({ action: "create", outcome: "created", asked }, createdMillis)
    expect(causeOf([made("small from Ubuntu with auto_terminate")])).toBe("commitment")
    expect(causeOf([made("small from Ubuntu with auto_renew")])).toBe("unknown")
    expect(causeOf([made("small from Ubuntu")])).toBe("unknown")
  })

  it("is no commitment that still runs, or that an earlier node had", () => {
    expect(causeOf([], { setMillis: createdMillis, untilMillis: goneMillis + hour })).toBe("unknown")
    expect(causeOf([], { setMillis: createdMillis - hour, untilMillis: goneMillis - hour })).toBe("unknown")
    // Berth does not know the end of a period that was bought elsewhere.
    expect(causeOf([], { setMillis: createdMillis, untilMillis: null })).toBe("commitment")
  })
})
