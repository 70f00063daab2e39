/**
 * The client against every fault of the mock service, over real sockets: every call ends in time with a correct result or a typed error,
 * and a create makes no second node.
 */
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Exit, Option, Redacted, Result, Stream } from "effect"
import { Base64 } from "effect/encoding"
import { type Fault, faultNames, TestServer, type TestWorld } from "@berthkit/server/testing"
import type { Creation } from "@berthkit/core/client/creation/Creator"
import { Images } from "@berthkit/core/client/Images"
import { Nodes } from "@berthkit/core/client/Nodes"
import { BerthError } from "@berthkit/core/domain/BerthError"
import type { Image } from "@berthkit/core/domain/Image"
import { type Node, NodeId } from "@berthkit/core/domain/Node"
import { collected } from "@berthkit/testing/telemetry"
import { clientOf, inDialect } from "../account.ts"

const plan = "C-4VCPU-16RAM-100DISK"
const spec = { name: "asked-for", plan, image: "Ubuntu-24.04" }

const client = (world: TestWorld) => clientOf(world, { attemptTimeout: "300 millis", deadline: "2 seconds" })

/** A call that takes longer never ends, because its deadline is only seconds. */
const limit = "4 minutes"

/** `skuId` is a committed option of the node's plan. */
type Call = (id: NodeId, skuId: number) => Effect.Effect<unknown, BerthError, Nodes | Images>

const operations: Record<string, Call> = {
  "nodes.create": () => Nodes.use((nodes) => nodes.create(spec)),
  "nodes.get": (id: NodeId) => Nodes.use((nodes) => nodes.get(id)),
  "nodes.list": () => Nodes.use((nodes) => Stream.runCollect(nodes.list({ deadline: "2 seconds" }))),
  "nodes.delete": (id: NodeId) => Nodes.use((nodes) => nodes.delete(id)),
  "commitments.set": (id: NodeId, skuId) => Nodes.use((nodes) => nodes.setCommitment(id, "auto_renew", { skuId })),
  "nodes.await": (id: NodeId) => Nodes.use((nodes) => nodes.awaitStatus(id, "running", { timeout: "2 seconds" })),
  "images.list": () => Images.use((images) => images.list()),
  "images.saved": () => Images.use((images) => images.saved())
}

/** Semantic faults, with the operations whose replies they falsify. */
const semanticFaults: Partial<Record<Fault["fault"], ReadonlyArray<string>>> = {
  "list-stale": ["nodes.list"],
  "list-shifts": ["nodes.list"],
  "empty-list": ["nodes.list", "images.list", "images.saved"]
}

type ControlledNode = Effect.Success<ReturnType<typeof nodesOf>>[number]

/** Checks that the value of a success agrees with the world `before` and `after` the call. */
const isTrue: Record<
  string,
  (value: any, before: ReadonlyArray<ControlledNode>, after: ReadonlyArray<ControlledNode>) => void
> = {
  "nodes.create": ({ node }: Creation, before, after) => {
    assert.notInclude(
      before.map(({ id }) => id),
      node.id
    )
    assert.strictEqual(after.find(({ id }) => id === node.id)?.name, spec.name)
  },
  "nodes.get": (node: Node, before) => {
    assert.deepStrictEqual([node.id, node.name], [before[0]!.id, before[0]!.name])
  },
  "nodes.list": (nodes: ReadonlyArray<Node>, before) => {
    assert.sameDeepMembers(
      nodes.map(({ id, name }) => [id, name]),
      before.map(({ id, name }) => [id, name])
    )
  },
  "nodes.delete": (_, before, after) => {
    const left = after.find(({ id }) => id === before[0]!.id)
    assert.include([undefined, "terminate", "gone"], left?.status)
    assert.lengthOf(
      after.filter(({ id, status }) => id !== before[0]!.id && status === "running"),
      before.length - 1
    )
  },
  // This is checked below, because the nodes of the control plane do not show commitments.
  "commitments.set": () => {},
  "nodes.await": (node: Node, before) => {
    assert.deepStrictEqual([node.id, node.name, node.status], [before[0]!.id, before[0]!.name, "running"])
  },
  "images.list": (images: ReadonlyArray<Image>) => assert.isNotEmpty(images),
  "images.saved": (images: ReadonlyArray<Image>) =>
    assert.sameMembers(
      images.map(({ name }) => name),
      ["golden-web", "golden-database"]
    )
}

const nodesOf = (world: TestWorld) => Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))

/** The outcome of one call while a fault was armed. */
const run = Effect.fnUntraced(function* (fault: Fault, operation: string) {
  const server = yield* TestServer
  const world = yield* server.makeWorld(inDialect({ scenario: "small", clock: "real" }))
  const before = yield* nodesOf(world)
  const images = yield* Effect.provide(
    Images.use((images) => images.list()),
    clientOf(world)
  )
  const { skuId } = images.find(({ plan }) => plan === before[0]!.plan)!.specs.committedOptions[0]!
  yield* world.arm([fault])
  const { payloads, value: ended } = yield* operations[operation]!(NodeId.make(before[0]!.id), skuId).pipe(
    Effect.result,
    Effect.exit,
    Effect.timeoutOption(limit),
    // Logs the end, but not the value of a success, which only the caller gets.
    Effect.tap((ended) => Effect.logTrace("ended", Option.map(ended, Exit.map(Result.map(() => "ok"))))),
    Effect.provide(client(world)),
    collected
  )
  yield* world.arm([])
  const after = yield* nodesOf(world)
  const made = after.filter(({ name }) => name === spec.name)
  const snapshot = yield* Effect.orDie(world.control.worlds.snapshot({ params: { world: world.id } }))
  const committed = snapshot.nodes.find(({ id }) => id === before[0]!.id)?.commitment?.skuId === skuId
  return { after, before, committed, ended, made, payloads, world }
}, Effect.scoped)

layer(TestServer.layer(inDialect()), { excludeTestServices: true })("every call under every fault", (it) => {
  for (const [number, fault] of faultNames.entries()) {
    // `pnpm soak` runs every call under every fault; other runs take a fourth of them.
    const names = Object.keys(operations).filter((_, index) => isSoak || (number + index) % 4 === 0)
    describe.concurrent(`${fault}`, () => {
      it.effect.each(names)("%s ends in time, rightly or typed, and reveals no secret", (operation) =>
        Effect.gen(function* () {
          const { after, before, committed, ended, made, payloads, world } = yield* run({ fault } as Fault, operation)
          assert.include(payloads, "berth_requests_total", "the telemetry has the call")
          for (const secret of [world.apiKey, world.accessToken].map(Redacted.value)) {
            for (const spelling of [secret, encodeURIComponent(secret), Base64.encode(secret)]) {
              assert.notInclude(payloads, spelling)
            }
          }
          if (Option.isNone(ended)) return assert.fail(`did not end within ${limit}`)
          if (Exit.isFailure(ended.value)) return assert.fail(`a defect: ${String(ended.value.cause)}`)
          const result: Result.Result<unknown, unknown> = ended.value.value
          if (Result.isFailure(result)) {
            assert.instanceOf(result.failure, BerthError)
            if (result.failure instanceof BerthError) {
              // The error of a wait whose polls succeeded has no attempts.
              if (result.failure.reason._tag !== "StatusNotReached") assert.isNotEmpty(result.failure.attempts)
              assert.isNotEmpty(result.failure.hint)
            }
          }
          const isWrong = semanticFaults[fault]?.includes(operation) === true
          if (Result.isSuccess(result) && !isWrong) isTrue[operation]!(result.success, before, after)
          if (Result.isSuccess(result) && operation === "commitments.set") assert.isTrue(committed)
          if (operation !== "nodes.create") return
          assert.isAtMost(made.length, fault === "duplicate-create" ? 2 : 1, "nodes made by one create")
          if (Result.isSuccess(result)) assert.isAtLeast(made.length, 1)
        })
      )
    })
  }
})
