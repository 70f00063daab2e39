/**
 * `--if-absent` beside an earlier create whose reply was lost: that one may still make the node, so none is made beside it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { alteredService, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf } from "./fleet.ts"
import { movable } from "./invoke.ts"

const order = ["--plan", plan, "--image", image, "--yes"]

/** A create of `first` that was sent, got no reply and has made nothing so far. */
const lostCreate = Effect.fnUntraced(function* (...first: ReadonlyArray<string>) {
  const { account, service } = yield* alteredService
  const { run } = yield* hurriedFolderOf(account)
  service.areCreatesSwallowed = true
  const lost = yield* run(["node", "create", ...first, ...order, "--deadline", "2s"])
  assert.notStrictEqual(lost.code, 0)
  service.areCreatesSwallowed = false
  return { run, service }
})

describe("--if-absent after a create whose reply was lost", () => {
  it.live("makes no second node, and makes one once the first can no longer come", () =>
    Effect.gen(function* () {
      const { clock, moveOn } = yield* movable
      yield* Effect.gen(function* () {
        const { run, service } = yield* lostCreate("u", "--if-absent")
        for (const again of [["u"], ["u", "--dry-run"]]) {
          const refused = yield* run(["node", "create", ...again, ...order, "--if-absent"])
          assert.strictEqual(refused.code, 8, refused.stderr)
          assert.match(
            refused.stderr,
            /An earlier create of u, sent at \S+, may have made a node: nothing was created now/
          )
          assert.include(refused.stderr, "in eleven minutes at the latest")
        }
        assert.lengthOf(service.nodes, 0)
        moveOn(11 * 60_000)
        const made = yield* run(["node", "create", "u", ...order, "--if-absent"])
        assert.strictEqual(made.code, 0, made.stderr)
        assert.lengthOf(service.nodes, 1)
      }).pipe(Effect.provideService(Clock.Clock, clock))
    }).pipe(Effect.scoped)
  )

  it.live("takes the node for the wanted one once it is listed", () =>
    Effect.gen(function* () {
      const { run, service } = yield* lostCreate("u", "--if-absent")
      assert.strictEqual((yield* run(["node", "create", "u", ...order])).code, 0)
      const found = yield* run(["node", "create", "u", ...order, "--if-absent"])
      assert.strictEqual(found.code, 0, found.stderr)
      assert.lengthOf(service.nodes, 1)
    }).pipe(Effect.scoped)
  )

  it.live("holds for one of several, and for a create under a key, which that key settles", () =>
    Effect.gen(function* () {
      const { run, service } = yield* lostCreate("w-2", "--idempotency-key", "k")
      const several = yield* run(["node", "create", "w", "--count", "3", ...order, "--if-absent"])
      assert.strictEqual(several.code, 8, several.stderr)
      assert.include(several.stderr, "--idempotency-key k")
      assert.lengthOf(service.nodes, 0)
      const other = yield* run(["node", "create", "x", ...order, "--if-absent"])
      assert.strictEqual(other.code, 0, other.stderr)
    }).pipe(Effect.scoped)
  )
})
