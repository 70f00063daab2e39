/** Creates with a key while the state folder vanishes (for example because a container's volume is removed) and the reply is lost, too. */
import { existsSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, image, plan } from "./AlteredService.ts"
import { accelerated, invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const posts = (requests: ReadonlyArray<string>) => requests.filter((request) => request.startsWith("POST")).length

/** A service whose create gets no reply and makes a node that no list shows. The state folder vanishes at the same time. */
const vanishing = Effect.gen(function* () {
  const { account, service } = yield* alteredService
  const state = join(yield* stateFolder, "state")
  service.listed = []
  service.silent = "POST /nodes/"
  const env = { ...account, XDG_STATE_HOME: state }
  const create = (...flags: ReadonlyArray<string>) =>
    accelerated(
      invoke(
        ["node", "create", "web", "--plan", plan, "--image", image, "--idempotency-key", "web", "--yes", ...flags],
        { env }
      )
    )
  return { service, state, create }
})

describe("a create with a key whose reply is lost while its state folder vanishes", () => {
  it.live("is not sent again by the next call, which finds its node", () =>
    Effect.gen(function* () {
      const { create, service, state } = yield* vanishing
      service.onMade = () => renameSync(state, `${state}.gone`)
      const first = yield* create("--deadline", "2m")
      assert.strictEqual(first.code, 8, first.stderr)
      assert.include(first.stderr, "again with the same key: that makes no second node")
      assert.isTrue(existsSync(state))
      service.listed = undefined
      const again = yield* create()
      assert.strictEqual(again.code, 0, again.stderr)
      assert.deepStrictEqual([service.nodes.length, posts(service.requests)], [1, 1])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["is listed", "Look at the candidates: berth node get 1000; one of them may be web."],
    ["is not listed", "Read the list in eleven minutes: berth node list --name web; the service may create the node"]
  ])("does not promise anything of its key if the folder cannot be made again, and its node %s", ([what, hint]) =>
    Effect.gen(function* () {
      const { create, service, state } = yield* vanishing
      if (what === "is listed") service.listed = undefined
      service.onMade = () => {
        renameSync(state, `${state}.gone`)
        writeFileSync(state, "")
      }
      const { code, stderr } = yield* create("--deadline", "2m")
      assert.strictEqual(code, 8, stderr)
      assert.include(stderr, "did not answer within 15 s; no readable record of its key is left.")
      assert.include(stderr, `hint: ${hint}`)
    }).pipe(Effect.scoped)
  )
})
