/** Tests the instants between which an event is reported to have happened. */
import { describe, expect, it } from "@effect/vitest"
import { aNode, nodeId } from "./aNode.ts"
import { byHand } from "./byHand.ts"

const stable = Array.from({ length: 30 }, (_, index) => aNode({ id: 100 + index }))

/** A sweep, and 10 s after it the end of the list. */
const watched = () => {
  const watch = byHand()
  watch.baseline(...stable)
  const swept = watch.now()
  watch.pass(10_000)
  return { watch, swept }
}

describe("a node that appears", () => {
  it("and is older than the list that lacked it was hidden since the last sweep", () => {
    const { swept, watch } = watched()
    expect(watch.sweep(...stable, aNode({ id: 200 }))).toMatchObject([
      { type: "berth.node.discovered", between: [swept, watch.now()] }
    ])
  })

  it("and is older than the end of the list that lacked it was hidden there", () => {
    const { swept, watch } = watched()
    const createdAtMillis = watch.now() - 5000
    watch.tail(...stable)
    watch.pass(10_000)
    expect(watch.tail(...stable, aNode({ id: 200, createdAtMillis }))).toMatchObject([
      { type: "berth.node.created", between: [swept, watch.now()] }
    ])
  })

  it("with an id below the last one was not read at the end of the list", () => {
    const { swept, watch } = watched()
    watch.tail(...stable, aNode({ id: 200 }))
    watch.pass(1000)
    const createdAtMillis = watch.now()
    expect(watch.sweep(aNode({ id: 50, createdAtMillis }), ...stable, aNode({ id: 200 }))).toMatchObject([
      { type: "berth.node.created", between: [swept, watch.now()] }
    ])
  })

  it("with an id below one that the end of the list had once was not read there", () => {
    const { swept, watch } = watched()
    watch.tail(...stable, aNode({ id: 200 }))
    watch.tail(...stable)
    watch.pass(1000)
    const createdAtMillis = watch.now()
    expect(watch.tail(...stable, aNode({ id: 150, createdAtMillis }))).toMatchObject([
      { between: [swept, watch.now()] }
    ])
  })

  it("with the id of a record that could not be read was not lacked by that page", () => {
    const { swept, watch } = watched()
    watch.observe({
      _tag: "PageRead",
      ...watch.exchange(),
      sweep: null,
      isEnd: true,
      nodes: stable,
      unreadable: [nodeId(200)]
    })
    const createdAtMillis = watch.now()
    watch.pass(1000)
    expect(watch.tail(...stable, aNode({ id: 200, createdAtMillis }))).toMatchObject([
      { between: [swept, watch.now()] }
    ])
  })

  it("was created since the last sweep where that is newer than the end of the list", () => {
    const { watch } = watched()
    watch.tail(...stable)
    watch.pass(10_000)
    watch.sweep(...stable)
    const swept = watch.now()
    watch.pass(10_000)
    expect(watch.tail(...stable, aNode({ id: 200, createdAtMillis: watch.now() }))).toMatchObject([
      { type: "berth.node.created", between: [swept, watch.now()] }
    ])
  })

  it("was not lacked by a page that is not the end of the list", () => {
    const { watch } = watched()
    const page = { sweep: null, isEnd: false, nodes: stable, unreadable: [] }
    watch.observe({ _tag: "PageRead", ...watch.exchange(), ...page })
    expect(watch.snapshot.evidence.tail).toBeNull()
  })
})

describe("a node", () => {
  it("was last seen by the last sweep before a restart, while the list had it", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    watch.pass(120_000)
    watch.sweep(aNode({ id: 1 }), ...stable)
    const swept = watch.now()
    watch.pass(10_000)
    watch.restart()
    watch.sweep(...stable)
    watch.misses(1)
    watch.pass(60_000)
    watch.misses(1)
    expect(watch.sweep(...stable)).toMatchObject([{ type: "berth.node.deleted", between: [swept, watch.now()] }])
  })

  it.each([
    { what: "goes on", restarts: false },
    { what: "is restarted", restarts: true }
  ])("changed since it was last shown by a record that can be read, where the process $what", ({ restarts }) => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const known = watch.now()
    for (let n = 0; n < 3; n++) {
      watch.pass(70_000)
      const sweep = watch.begin()
      sweep.page(...stable)
      sweep.unreadable(1)
      sweep.end()
    }
    if (restarts) watch.restart()
    watch.pass(10_000)
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }), ...stable)).toMatchObject([
      { type: "berth.node.status_changed", between: [known, watch.now()] }
    ])
    const changed = watch.now()
    watch.pass(10_000)
    expect(watch.sweep(aNode({ id: 1 }), ...stable)).toMatchObject([{ between: [changed, watch.now()] }])
  })

  it("is gone since a record that can be read showed it: another one may have been that of another node of its id", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const known = watch.now()
    watch.pass(10_000)
    const createdAtMillis = watch.now()
    const sweep = watch.begin()
    sweep.page(...stable)
    sweep.unreadable(1)
    sweep.end()
    watch.pass(10_000)
    expect(watch.sweep(aNode({ id: 1, createdAtMillis }), ...stable)).toMatchObject([
      { type: "berth.node.deleted", between: [known, watch.now()] },
      { type: "berth.node.created" }
    ])
  })

  it("changed since it was last shown as it was known, where a stale list showed an older status meanwhile", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    const known = watch.now()
    watch.pass(10_000)
    expect(watch.sweep(aNode({ id: 1, status: "created" }))).toEqual([])
    watch.pass(10_000)
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ between: [known, watch.now()] }])
  })

  it("is written once, however long its record cannot be read", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const unread = () => {
      const sweep = watch.begin()
      sweep.page(...stable)
      sweep.unreadable(1)
      sweep.end()
    }
    unread()
    const before = watch.written()
    for (let n = 0; n < 5; n++) unread()
    expect(watch.written()).toBe(before)
  })

  it("is listed when a list shows it, and not when only a read does", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }), ...stable)
    const isListed = (id: number) => watch.snapshot.nodes.get(nodeId(id))?.state.listed
    watch.finds(aNode({ id: 2, createdAtMillis: watch.now() }))
    expect(isListed(2)).toBe(false)
    watch.sweep(...stable)
    expect(isListed(1)).toBe(false)
    watch.sweep(aNode({ id: 1 }), ...stable)
    expect(isListed(1)).toBe(true)
  })

  it("changed between instants in their order, also where the clock was set back", () => {
    const watch = byHand()
    watch.baseline(aNode({ id: 1 }))
    watch.step(-3_600_000)
    const to = watch.now() - 3_600_000
    expect(watch.sweep(aNode({ id: 1, status: "power-off" }))).toMatchObject([{ between: [to, to] }])
  })
})
