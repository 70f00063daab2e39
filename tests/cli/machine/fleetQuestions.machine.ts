/**
 * Tests the questions of `berth apply` at a real terminal, and its reactions to the answers. Needs Linux, because its `script` makes the
 * terminal.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { alteredService, days, plan } from "../AlteredService.ts"
import { fleetFolder, hurriedFolderOf, large, nodes, webs } from "../fleet.ts"
import { inDialect } from "../../account.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

/** Runs berth apply at its own terminal. Types each answer after its question was shown and `meanwhile` has run. */
const applyAtTerminal = (
  fleet: Effect.Success<typeof fleetFolder>,
  args: string,
  answers: ReadonlyArray<
    readonly [shown: string | RegExp, typed: string, meanwhile: Effect.Effect<unknown, never, TestServer>]
  >,
  columns = 160
) =>
  Effect.gen(function* () {
    const env = { ...(yield* fleet.env), TERM: "xterm", NO_COLOR: "1", XDG_CONFIG_HOME: "/tmp/berth-no-profiles" }
    const command = `stty cols ${columns} rows 40; exec '${process.execPath}' '${binary}' apply -f '${fleet.file}' ${args}`
    const terminal = yield* Program.start(
      () =>
        new Program("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
          env,
          isInputOpen: true
        })
    )
    for (const [shown, typed, meanwhile] of answers) {
      yield* Effect.promise(() => terminal.printed(shown))
      yield* meanwhile
      yield* Effect.sync(() => terminal.child.stdin.write(typed))
    }
    return yield* Effect.promise(() => terminal.ended)
  }).pipe(Effect.scoped)

const service = TestServer.layer(inDialect({ clock: "real", provisioning: 20, termination: "20 millis" }))

describe("the question of berth apply", () => {
  it.live("is asked again if the file has changed, and only what was shown last is sent", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1))
      const edited = Effect.sync(() => fleet.write(webs(2, large)))
      const refused = yield* applyAtTerminal(fleet, "", [
        ["(create 1)? [y/N] ", "y\r", edited],
        ["(create 2)? [y/N] ", "n\r", Effect.void]
      ])
      assert.strictEqual(refused.code, 130, refused.stdout)
      assert.include(refused.stdout, "The plan changed while the question was open. Nothing has been done yet.")
      assert.lengthOf(yield* nodes, 0)
      const done = yield* applyAtTerminal(fleet, "", [["(create 2)? [y/N] ", "y\r", Effect.void]])
      assert.strictEqual(done.code, 0, done.stdout)
      assert.deepStrictEqual(
        (yield* nodes).map(({ plan }) => plan),
        [large, large]
      )
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("deletes no node that has changed in the meantime: protected, renamed, or doubled", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(2))
      assert.strictEqual((yield* fleet.apply("--yes", "--wait")).code, 0)
      fleet.write(webs(1))
      const twin = fleet.run([
        "node",
        "create",
        "shop-web-2",
        "--plan",
        "C-2VCPU-8RAM-50DISK",
        "--image",
        "Ubuntu-24.04"
      ])
      const doubled = yield* applyAtTerminal(fleet, "", [
        ["(delete 1)?", "y\r", twin],
        ["(delete 1)? Disks of deleted nodes are deleted too. [y/N] ", "n\r", Effect.sleep("1 second")]
      ])
      assert.include(doubled.stdout, "The plan changed while the question was open.")
      assert.strictEqual(doubled.code, 130, doubled.stdout)
      assert.lengthOf(yield* nodes, 3)
      const protectedNow = Effect.sync(() => fleet.write(webs(1, "C-2VCPU-8RAM-50DISK", ", protect: true")))
      const kept = yield* applyAtTerminal(fleet, "", [["(delete 1)?", "y\r", protectedNow]])
      assert.include(kept.stdout, "protected: it is never deleted")
      assert.lengthOf(yield* nodes, 3)
      assert.include(readFileSync(fleet.ledger, "utf8"), '"protect":true')
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("shows all of an order on a narrow terminal, and what has changed of it", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      const web = (tags: string) => webs(1, large, `, tags: [${tags}], commitment: auto_renew 30d`)
      fleet.write(web("blue"))
      const question = "(create 1, commit 1)? [y/N] "
      const edited = Effect.sync(() => fleet.write(web("green")))
      const { stdout } = yield* applyAtTerminal(
        fleet,
        "",
        [
          [question, "y\r", edited],
          [/tags green[^]*\[y\/N\] /, "n\r", Effect.void]
        ],
        80
      )
      const [first = "", second = ""] = stdout.split("The plan changed while the question was open.")
      for (const [text, tag] of [
        [first, "blue"],
        [second, "green"]
      ] as const) {
        for (const part of ["shop-web-1", large, "Ubuntu-24.04", `tags ${tag}`]) assert.include(text, part)
        assert.match(text.replaceAll(/\s+/g, " "), /30 days for ₹[\d.]+; at its end the commitment is renewed/)
      }
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is no yes to a commitment in another currency whose price rises afterwards", () =>
    Effect.gen(function* () {
      const { account, service } = yield* alteredService
      const fleet = yield* hurriedFolderOf(account)
      service.currency = "USD"
      service.optionPrice = "40"
      service.onMade = () => (service.optionPrice = "46000")
      fleet.write(webs(1, plan, `, commitment: auto_renew ${days}d`))
      const answers = [[/commitment for \$40\.00[^]*\[y\/N\] /, "y\r", Effect.void]] as const
      const failed = yield* applyAtTerminal(fleet, "", answers)
      assert.strictEqual(failed.code, 9, failed.stdout)
      assert.include(failed.stdout, "$46000.00 now, and $40.00 was shown")
      assert.notInclude(service.requests, "POST /update_committed_node_status/")
    }).pipe(Effect.scoped, Effect.provide(service))
  )

  it.live("is a person's yes to a commitment, whose price it has shown", () =>
    Effect.gen(function* () {
      const fleet = yield* fleetFolder
      fleet.write(webs(1, large, ", commitment: auto_renew 30d"))
      const done = yield* applyAtTerminal(fleet, "", [["(create 1, commit 1)? [y/N] ", "y\r", Effect.void]])
      assert.strictEqual(done.code, 0, done.stdout)
      assert.match(done.stdout, /30 days for ₹\d/)
      assert.match(done.stdout, /Commitments: ₹\d+\.\d\d at once\./)
      assert.include(readFileSync(fleet.ledger, "utf8"), '"commitment":"auto_renew 30d"')
    }).pipe(Effect.scoped, Effect.provide(service))
  )
})
