/** The contract of every store of intents that outlasts its process. */
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, Schedule, type Scope } from "effect"
import type { IntentStore, IntentStoreFailed } from "../../../src/client/creation/IntentStore.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { intent } from "./intent.ts"

const program = fileURLToPath(new URL("holder.ts", import.meta.url))

/** A place for intents, which several processes use. */
export interface Place {
  /** The store as another process opens it. */
  readonly open: Effect.Effect<IntentStore, IntentStoreFailed, Scope.Scope>
  /** The arguments by which `holder.ts` opens the store. */
  readonly words: ReadonlyArray<string>
  /** Takes a key's lock from a frozen process, as a process of another machine does. */
  readonly takeOver: (store: IntentStore, key: string) => Effect.Effect<void, IntentStoreFailed>
}

const fatesIn = (store: IntentStore) =>
  Effect.map(store.unsettled, (all) => Object.fromEntries(all.map(({ fate, key }) => [key, fate])))

export const intentContract = (what: string, place: Effect.Effect<Place, never, Scope.Scope>) => {
  const holderIn = Effect.fnUntraced(function* ({ words }: Place, key: string) {
    const holder = yield* Program.start(() => Program.ofNode(program, [key, ...words], { isInputOpen: true }))
    yield* Effect.promise(() => holder.printed("held"))
    return holder
  })

  describe(`intents in ${what}`, () => {
    it.live("are found by other processes, first as open, then as settled", () =>
      Effect.gen(function* () {
        const { open } = yield* place
        const [one, other] = [yield* open, yield* open]
        assert.isTrue(Option.isNone(yield* other.find("job")))
        yield* one.withKeyLock("job")(() => one.save(intent("job")))
        assert.deepInclude(Option.getOrThrow(yield* other.find("job")), intent("job"))
        assert.deepStrictEqual(yield* fatesIn(other), { job: "open" })
        assert.strictEqual(yield* other.newestNode, 0)
        yield* one.withKeyLock("job")(() => one.save(intent("job", { nodeId: NodeId.make(9) })))
        assert.deepStrictEqual(yield* other.unsettled, [])
        assert.strictEqual(Option.getOrThrow(yield* other.find("job")).nodeId, NodeId.make(9))
        assert.deepStrictEqual(Array.from(yield* other.ownersOf([NodeId.make(8), NodeId.make(9)])), [
          [NodeId.make(9), "job"]
        ])
        assert.strictEqual(yield* other.newestNode, 9)
      })
    )

    it.live("keep the node that a reply named, and what was settled, from what is removed", () =>
      Effect.gen(function* () {
        const { open } = yield* place
        const [one, other] = [yield* open, yield* open]
        const told = { id: NodeId.make(8), difference: "the name db instead of web", others: [NodeId.make(9)] }
        yield* one.save(intent("told", { fate: "lost", told }))
        assert.deepInclude(Option.getOrThrow(yield* other.find("told")), { told, nodeId: null })
        yield* one.save(intent("made", { nodeId: NodeId.make(9) }))
        yield* one.save(intent("unsent", { sentAt: null }))
        for (const key of ["made", "unsent", "none"]) yield* one.remove(key)
        assert.isTrue(Option.isSome(yield* other.find("made")))
        assert.isTrue(Option.isNone(yield* other.find("unsent")))
      })
    )

    it.live("tell of a create without a key for an hour, also with its node", () =>
      Effect.gen(function* () {
        const { open } = yield* place
        const [one, other] = [yield* open, yield* open]
        yield* one.save(intent("_made", { nodeId: NodeId.make(9) }))
        yield* one.save(intent("_open"))
        const found = yield* other.unsettled
        assert.deepStrictEqual(found.map(({ key, nodeId }) => [key, nodeId]).toSorted(), [
          ["_made", NodeId.make(9)],
          ["_open", null]
        ])
        assert.deepStrictEqual(yield* other.takeAbandoned, [], "its process runs")
      })
    )

    it.live("have one owner of a key at a time, and those that wait can be interrupted", () =>
      Effect.gen(function* () {
        const { open } = yield* place
        const [one, other] = [yield* open, yield* open]
        const held = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const order: Array<string> = []
        const first = yield* Effect.forkChild(
          one.withKeyLock("job")(({ confirm }) =>
            Effect.gen(function* () {
              yield* Deferred.succeed(held, undefined)
              yield* Deferred.await(done)
              yield* confirm
              order.push("first")
            })
          )
        )
        yield* Deferred.await(held)
        yield* other.withKeyLock("another")(() => Effect.sync(() => order.push("another")))
        const given = yield* Effect.forkChild(other.withKeyLock("job")(() => Effect.sync(() => order.push("given up"))))
        const second = yield* Effect.forkChild(other.withKeyLock("job")(() => Effect.sync(() => order.push("second"))))
        yield* Fiber.interrupt(given)
        yield* Deferred.succeed(done, undefined)
        yield* Effect.all([Fiber.join(first), Fiber.join(second)])
        assert.deepStrictEqual(order, ["another", "first", "second"])
      })
    )

    it.live("pass on how their user fails", () =>
      Effect.gen(function* () {
        const store = yield* (yield* place).open
        assert.strictEqual(yield* Effect.flip(store.withKeyLock("job")(() => Effect.fail("mine"))), "mine")
      })
    )

    it.live("of a process that is killed are lost, and its key is free", () =>
      Effect.gen(function* () {
        const its = yield* place
        const store = yield* its.open
        const holder = yield* holderIn(its, "job")
        assert.deepStrictEqual(yield* fatesIn(store), { job: "open", "_of job": "open" })
        yield* Effect.promise(() => holder.kill())
        yield* Effect.repeat(fatesIn(store), {
          until: ({ job }) => job === "lost",
          schedule: Schedule.spaced("20 millis")
        })
        const found = yield* store.withKeyLock("job")(() => store.find("job"))
        assert.strictEqual(Option.getOrThrow(found).fate, "lost")
        const [taken] = yield* store.takeAbandoned
        assert.strictEqual(taken?.key, "_of job")
        assert.deepStrictEqual(yield* store.takeAbandoned, [], "each is given once")
        assert.deepStrictEqual(yield* fatesIn(store), { job: "lost", "_of job": "reported" })
      })
    )

    it.live("are not written any more by a process that stood still until another one had its key", () =>
      Effect.gen(function* () {
        const its = yield* place
        const store = yield* its.open
        const holder = yield* holderIn(its, "job")
        holder.child.kill("SIGSTOP")
        yield* its.takeOver(store, "job")
        const after = intent("job", { fate: "refused" })
        yield* store.save(after)
        holder.child.kill("SIGCONT")
        holder.child.stdin.write("go\n")
        yield* Effect.promise(() => holder.printed("ended"))
        assert.include(holder.printedOn.stdout, "refused: ")
        assert.include(holder.printedOn.stdout, "another process took")
        assert.deepInclude(Option.getOrThrow(yield* store.find("job")), after)
      })
    )
  })
}
