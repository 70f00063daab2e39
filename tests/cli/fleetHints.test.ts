/** A user can follow the hints of fleet errors: they name existing flags, and leave no placeholder to fill in. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { alteredService, plan } from "./AlteredService.ts"
import { hurriedFolderOf, rowsOf, webs } from "./fleet.ts"
import { invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

describe("a state folder that cannot be used", () => {
  it.live.each(["apply", "destroy"])("stops berth %s with a hint that names no flag which it lacks", (command) =>
    Effect.gen(function* () {
      const { account } = yield* alteredService
      const folder = yield* stateFolder
      const [file, state] = [join(folder, "fleet.yaml"), join(folder, "state")]
      writeFileSync(file, webs(1, plan))
      writeFileSync(state, "")
      for (const [path, hint] of [
        [state, /hint: Make it readable and writable\. .+\.\n$/],
        [undefined, /hint: Set HOME or XDG_STATE_HOME to a writable folder\. .+\.\n$/]
      ] as const) {
        const { code, stderr } = yield* invoke([command, "-f", file, "--yes"], {
          env: { ...account, XDG_STATE_HOME: path }
        })
        assert.strictEqual(code, 10, stderr)
        assert.match(stderr, hint)
        assert.notInclude(stderr, "--idempotency-key")
      }
    }).pipe(Effect.scoped)
  )
})

describe("a create whose reply names another node", () => {
  it.live("is answered with the command that adopts the node as that member", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      service.spell = () => "something-else"
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1, plan))
      const { code, stderr } = yield* fleet.apply("--yes")
      assert.strictEqual(code, 9, stderr)
      assert.match(stderr, /berth fleet adopt -f \S+ 1000 --as web-1$/m)
    }).pipe(Effect.scoped)
  )
})

describe("a replacement that was begun and reverted, of a member that is protected now", () => {
  it.live("is reported with what to do, which ends with one node", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      fleet.write(webs(1, plan))
      yield* fleet.apply("--yes")
      fleet.write(webs(1, plan, ", tags: [b]"))
      const notReady = ["--ready-command", "exit 1", "--ready-timeout", "1ms"]
      assert.strictEqual((yield* fleet.apply("--yes", "--replace", "all", "--max-deletes", "1", ...notReady)).code, 9)
      fleet.write(webs(1, plan, ", protect: true"))
      const held = yield* fleet.apply("--yes", "-o", "json")
      assert.strictEqual(held.code, 5, held.stderr)
      assert.include(
        rowsOf(held)[0]!.reason,
        "remove protect from the file, apply it, and apply it again with --replace web-1"
      )
      fleet.write(webs(1, plan))
      yield* fleet.apply("--yes")
      const last = yield* fleet.apply("--yes", "--replace", "web-1", "--max-deletes", "1")
      assert.strictEqual(last.code, 0, last.stderr)
      assert.lengthOf(service.nodes, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a commitment that a person names for an adopted node", () => {
  it.live.each(["auto_terminate 30d", "hourly_billing 30d", "auto_renew"])(
    "has days only if it is a renewal, as in the file: %s",
    (given) =>
      Effect.gen(function* () {
        const { account, service } = yield* alteredService
        const fleet = yield* hurriedFolderOf(account)
        fleet.write(webs(1, plan))
        const adopt = ["fleet", "adopt", "5", "--as", "web-1", "-f", fleet.file, "--commitment", given]
        const { code, stderr } = yield* fleet.run(adopt)
        assert.deepStrictEqual([code, service.requests], [2, []], stderr)
        assert.include(stderr, 'such as "auto_renew 30d", or auto_terminate without days')
      }).pipe(Effect.scoped)
  )
})
