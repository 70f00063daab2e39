import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createRequest } from "@berthkit/core/client/NodeOperations"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { exactPrice, unknownPrice } from "@berthkit/core/domain/Price"
import type { Connection } from "@berthkit/terminal/Connection"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { stateOf } from "../../src/settings/client.ts"
import { propose } from "../../src/proposal/Proposal.ts"
import { type Answer, consentLines, proposalsOf, type Terms } from "../../src/proposal/ProposalStore.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-proposals-"))
afterAll(() => rmSync(folder, { recursive: true }))

const accounts = join(folder, "accounts")
const intents = { accounts, origin: "https://service.test", id: "one", key: undefined }

/** Only the part of a connection that a store uses. */
const connection = {
  files: { folder: join(accounts, "one"), intents },
  options: { baseUrl: "https://service.test" }
} as unknown as Connection

/** The store as another process opens it. */
const store = proposalsOf(connection)

const kept = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, stateOf(connection))

const noPerson = {
  ...unknownPrice,
  committedPriceInr: null,
  foreignCommittedPrice: null,
  minimumBillingInr: null,
  foreignPrice: null
}

const spec: NodeSpec = { name: "web", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }

/** A proposal to create a node. */
const terms = (spec: NodeSpec): Terms => ({
  order: { action: "create", spec },
  proposal: propose(createRequest(spec), {
    action: "create",
    id: null,
    name: spec.name,
    ...noPerson,
    ...exactPrice(6.46, null),
    outcome: ""
  }),
  about: null
})

describe("the answers to a proposal", () => {
  it.live("are a no if two windows answer at once and one of them says no", () =>
    Effect.gen(function* () {
      const windows = [yield* store, yield* store] as const
      for (let time = 0; time < 4; time++) {
        const { id } = yield* windows[0].keep(terms(spec))
        const answers: ReadonlyArray<Answer> = time % 2 === 0 ? ["approved", "declined"] : ["declined", "approved"]
        yield* Effect.forEach(windows, ({ answer }, at) => answer(id, answers[at] ?? "declined"), {
          concurrency: 2
        })
        const refused = yield* Effect.flip(windows[1].markSent(id))
        assert.include(refused.message, "declined")
        assert.deepInclude(yield* windows[0].find(id), { answer: "declined", wasSent: false })
      }
    }).pipe(kept)
  )

  it.live("stay a yes once the request has left", () =>
    Effect.gen(function* () {
      const { answer, keep, markSent } = yield* store
      const { id } = yield* keep(terms(spec))
      assert.strictEqual(yield* answer(id, "approved"), "approved")
      yield* markSent(id)
      assert.strictEqual(yield* answer(id, "declined"), "approved")
    }).pipe(kept)
  )
})

describe("what a person reads before they consent", () => {
  it.live("begins with the price, plan, image, name and account, and cuts no line", () =>
    Effect.gen(function* () {
      const { keep } = yield* store
      const name = "\u0001".repeat(255)
      const kept = yield* keep(terms({ ...spec, name, sshKeys: ["ssh-ed25519 AAAA", "ssh-ed25519 LAST"] }))
      const lines = consentLines(kept)
      assert.match(lines[0] ?? "", /^Create a node: ₹6\.46 per hour/)
      assert.deepStrictEqual(lines.slice(1, 3), ["Plan: C-2VCPU-8RAM-50DISK", "Image: Ubuntu-22.04"])
      assert.include(lines[3], "\\u0001".repeat(255))
      assert.strictEqual(lines[4], "Account: one at https://service.test")
      assert.include(lines[5], "ssh-ed25519 LAST")
    }).pipe(kept)
  )

  it.live("shows every gap as visible characters, so that no text moves out of sight", () =>
    Effect.gen(function* () {
      const { keep } = yield* store
      const kept = yield* keep(terms({ ...spec, sshKeys: [`ssh-ed25519${" ".repeat(40)}AAAA`, "a\u2003b"] }))
      assert.include(consentLines(kept)[5], `${"\\u{20}".repeat(40)}AAAA`)
      assert.include(consentLines(kept)[5], "a\\u{2003}b")
    }).pipe(kept)
  )

  it.live("is whole, or the proposal is refused", () =>
    Effect.gen(function* () {
      const { keep } = yield* store
      const refused = yield* Effect.flip(keep(terms({ ...spec, sshKeys: [`key${" ".repeat(2000)}`, "last"] })))
      assert.match(refused.message, /cannot be shown to a person as a whole/)
    }).pipe(kept)
  )
})
