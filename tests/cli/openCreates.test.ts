/** Commands after a create whose reply was lost. That create may still make its node, so no second one is made. */
import { cpSync, rmSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { alteredService, image, plan } from "./AlteredService.ts"
import { hurriedFolderOf, webs } from "./fleet.ts"
import { movable } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

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

describe("a fleet with an open create whose record is lost", () => {
  it.live(
    "does not send it again before it can no longer be processed, though the state folder is that of the same machine",
    () =>
      Effect.gen(function* () {
        const { clock, moveOn } = yield* movable
        yield* Effect.gen(function* () {
          const { account, service } = yield* alteredService
          const fleet = yield* hurriedFolderOf(account)
          const { XDG_STATE_HOME: state } = yield* fleet.env
          const image = yield* stateFolder
          fleet.write(webs(1))
          yield* fleet.apply("--yes")
          cpSync(state, image, { recursive: true })
          fleet.write(webs(2))
          service.areCreatesSwallowed = true
          yield* fleet.apply("--yes", "--deadline", "2s")
          service.areCreatesSwallowed = false
          const creates = () => service.requests.filter((request) => request === "POST /nodes/").length
          const sent = creates()
          rmSync(state, { recursive: true })
          cpSync(image, state, { recursive: true })
          const refused = yield* fleet.apply("--yes")
          assert.deepStrictEqual([refused.code, creates()], [5, sent], refused.stderr)
          assert.match(
            refused.stderr,
            /This machine sent the create of shop-web-2 \(web-2\) at \S+, and its state folder has no record of it/
          )
          moveOn(27 * 60_000)
          const made = yield* fleet.apply("--yes")
          assert.strictEqual(made.code, 0, made.stderr)
          assert.lengthOf(service.nodes, 2)
        }).pipe(Effect.provideService(Clock.Clock, clock))
      }).pipe(Effect.scoped)
  )
})
