/** A reply must be about the requested node: no call accepts a reply about another node. */
import { createTestClient, layer, nodeRecord, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Images } from "../../src/client/Images.ts"
import { Nodes } from "../../src/client/Nodes.ts"
import type { BerthError } from "../../src/domain/BerthError.ts"
import type { SavedImage } from "../../src/domain/Image.ts"
import { NodeId } from "../../src/domain/Node.ts"

const one = NodeId.make(1)
const another = nodeRecord({ id: 2, name: "other" })

const failureOf = (reply: Reply, call: (nodes: Nodes["Service"]) => Effect.Effect<unknown, BerthError>) =>
  Effect.flip(Nodes.use(call)).pipe(Effect.provide(layer(() => reply)))

const bare = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) })

describe("a reply about another node is not understood", () => {
  const set = (nodes: Nodes["Service"]) => nodes.setCommitment(one, "auto_renew", { skuId: 5 })
  for (const [what, reply, call] of [
    ["a get", ok(another), (nodes) => nodes.get(one)],
    ["a get, without the envelope", bare(another), (nodes) => nodes.get(one)],
    ["a wait for a status", ok(another), (nodes) => nodes.awaitStatus(one, "running")],
    ["a wait for the end", ok(another), (nodes) => nodes.awaitDeleted(one)],
    ["a delete", ok(another), (nodes) => nodes.delete(one)],
    ["a delete, by the id alone", ok({ id: "2" }), (nodes) => nodes.delete(one)],
    ["a delete, without the envelope", bare(another), (nodes) => nodes.delete(one)],
    ["a delete, within its data", ok({ node: another }), (nodes) => nodes.delete(one)],
    ["a delete, in a list", ok([another]), (nodes) => nodes.delete(one)],
    ["a commitment", ok({ vcn_id: 2, node_status: "auto_renew", committed_plan: 5 }), set],
    ["a commitment, by a record", ok(another), set],
    ["a commitment, beside the data", bare({ code: 200, data: {}, vcn_id: 2 }), set]
  ] satisfies ReadonlyArray<
    readonly [string, Reply, (nodes: Nodes["Service"]) => Effect.Effect<unknown, BerthError>]
  >) {
    it.live(`of ${what}`, () =>
      Effect.map(failureOf(reply, call), ({ hint, message, reason }) => {
        assert.strictEqual(reason._tag, "UnexpectedResponse")
        assert.match(message, /expected node 1 at data\.(?:id|vcn_id), got 2\.$/)
        assert.match(hint, /mixes up nodes/)
      })
    )
  }

  describe("nor is one about a node of another location", () => {
    const delhi = { project: 7, location: "Delhi" }
    const there = { ...nodeRecord({ id: 1 }), location: "Chennai" }
    for (const [what, data, call] of [
      ["a get", there, (nodes) => nodes.get(one)],
      ["a wait for a status", there, (nodes) => nodes.awaitStatus(one, "running")],
      ["a delete", { vm_id: 9, location: "Chennai" }, (nodes) => nodes.delete(one)],
      ["a commitment", { vcn_id: 1, location: "Chennai" }, set]
    ] satisfies ReadonlyArray<
      readonly [string, unknown, (nodes: Nodes["Service"]) => Effect.Effect<unknown, BerthError>]
    >) {
      it.live(`of ${what}`, () =>
        Effect.gen(function* () {
          const { hint, message, reason } = yield* Effect.flip(Nodes.use(call)).pipe(
            Effect.provide(layer(() => ok(data), delhi))
          )
          assert.match(hint, /^Name the location/)
          assert.strictEqual(reason._tag, "UnexpectedResponse")
          assert.include(message, "expected the location Delhi at data.location, got Chennai.")
          // A client without a location cannot tell.
          if (what === "a get") yield* Nodes.use(call).pipe(Effect.provide(layer(() => ok(data))))
          // The case of a location's letters does not matter.
          const spelled = { ...data, location: "delhi" }
          yield* Nodes.use(call).pipe(Effect.provide(layer(() => ok(spelled), delhi)))
        })
      )
    }
  })

  it.effect("nor is one about another setting", () =>
    Effect.gen(function* () {
      for (const [stated, expected] of [
        [{ node_status: "auto_terminate" }, "expected auto_renew at data.node_status, got auto_terminate."],
        [{ committed_plan: 6 }, "expected committed option 5 at data.committed_plan, got 6."]
      ] as const) {
        const { message } = yield* failureOf(ok({ vcn_id: 1, node_status: "auto_renew", ...stated }), set)
        assert.include(message, expected)
      }
    })
  )

  it("for the promise client as well", async () => {
    const client = createTestClient(() => ok(another))
    for (const call of [client.nodes.get(1), client.nodes.delete(1), client.nodes.awaitStatus(1, "running")]) {
      const error = await call.then(
        () => assert.fail("it succeeded"),
        (error: unknown) => error
      )
      assert.include(String(error), "expected node 1")
    }
    await client.close()
  })
})

describe("a reply that states nothing of a node is an answer", () => {
  for (const data of [{}, null, [], "done", { job: 9 }, { id: "6f1c" }, { id: 1 }]) {
    it.effect(`of a delete: ${JSON.stringify(data)}`, () =>
      Nodes.use((nodes) => nodes.delete(one)).pipe(Effect.provide(layer(() => ok(data))))
    )
  }
  // The id may be that of the commitment.
  for (const data of [{}, null, { id: 77 }, { vcn_id: "1", node_status: "renewing" }, { committed_plan: 0 }]) {
    it.effect(`of a commitment: ${JSON.stringify(data)}`, () =>
      Nodes.use((nodes) => nodes.setCommitment(one, "auto_renew", { skuId: 5 })).pipe(
        Effect.provide(layer(() => ok(data)))
      )
    )
  }
})

describe("a list that cannot be believed is never an empty account", () => {
  const lists = {
    "nodes.list": Nodes.use((nodes) => Stream.runCollect(nodes.list())),
    "nodes.listPage": Nodes.use((nodes) => nodes.listPage()),
    "nodes.readPage": Nodes.use((nodes) => nodes.readPage()),
    "images.list": Images.use((images) => images.list()),
    "images.saved": Images.use((images) => images.saved())
  }
  for (const [name, list] of Object.entries(lists)) {
    for (const [what, reply] of [
      ["null", ok(null)],
      ["an empty object", ok({})],
      ["a text", ok("none")],
      ["zero", ok(0)],
      ["false", ok(false)],
      ["no data", bare({ message: "Success", code: 200 })],
      ["nothing", { status: 204 }],
      ["an object of lists", ok({ nodes: [] })]
    ] satisfies ReadonlyArray<readonly [string, Reply]>) {
      it.effect(`${name}: ${what} is not understood`, () =>
        Effect.map(
          Effect.flip(
            Effect.provide(
              list as Effect.Effect<unknown, BerthError, Nodes | Images>,
              layer(() => reply)
            )
          ),
          (error) => assert.strictEqual(error._tag === "BerthError" && error.reason._tag, "UnexpectedResponse")
        )
      )
    }
    it.effect(`${name}: an empty list beside errors is a failure`, () =>
      Effect.map(
        Effect.flip(
          Effect.provide(
            list as Effect.Effect<unknown, BerthError, Nodes | Images>,
            layer(() => bare({ code: 200, message: "Success", data: [], errors: { detail: ["no database"] } }))
          )
        ),
        ({ message }) => assert.include(message, "no database")
      )
    )
  }

  const image = { name: "Ubuntu", image: "ubuntu", plan: "P" }
  for (const bad of [{ ...image, image: null }, { ...image, plan: {} }, null, "ubuntu"]) {
    it.effect(`an image record that cannot be read is set aside: ${JSON.stringify(bad)}`, () =>
      Effect.gen(function* () {
        for (const list of [lists["images.list"], lists["images.saved"]] as ReadonlyArray<
          Effect.Effect<ReadonlyArray<Pick<SavedImage, "image" | "plan">>, BerthError, Images>
        >) {
          const images = yield* Effect.provide(
            list,
            layer(() => ok([bad, image]))
          )
          assert.deepStrictEqual(
            images.map(({ image, plan }) => [image, plan]),
            [["ubuntu", "P"]]
          )
          const none = Effect.provide(
            list,
            layer(() => ok([bad]))
          )
          assert.include((yield* Effect.flip(none)).message, "data[0]")
        }
      })
    )
  }

  it.effect("saved images under their own name are a list, also of nothing", () =>
    Effect.gen(function* () {
      for (const body of [{ images: [] }, { data: { images: [] } }, { data: null, images: [] }]) {
        const saved = Images.use((images) => images.saved()).pipe(
          Effect.provide(layer(() => bare({ code: 200, ...body })))
        )
        assert.deepStrictEqual(yield* saved, [])
      }
    })
  )

  it.effect("an empty first page of a service that counts more nodes is not understood", () =>
    Effect.gen(function* () {
      const counting = bare({ code: 200, message: "Success", data: [], errors: {}, total_count: 900 })
      const { message } = yield* Effect.flip(
        Effect.provide(
          lists["nodes.list"],
          layer(() => counting)
        )
      )
      assert.include(message, "expected 900 nodes (total_count) at data")
      const pastTheEnd = Nodes.use((nodes) => nodes.listPage({ page: 11 })).pipe(Effect.provide(layer(() => counting)))
      assert.deepStrictEqual(yield* pastTheEnd, [])
    })
  )
})
