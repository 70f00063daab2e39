/** Commands that cannot write to their folders, because the file system is read-only or full. Needs Linux and root. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { berth, json, run, runFull, settings } from "../berth.ts"
import { inDialect, placeFlags } from "../../account.ts"

/** A small file system in memory, which `prepare` makes unusable. */
const disk = (prepare: (path: string) => void) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "berth-disk-"))
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k,mode=700", "none", path])
      prepare(path)
      return path
    }),
    (path) =>
      Effect.sync(() => {
        execFileSync("umount", [path])
        rmdirSync(path)
      })
  )

const spoiled = [
  [
    "read-only",
    (path: string) => void execFileSync("mount", ["-o", "remount,ro", path]),
    /the file system is read-only/,
    "Make that file system writable"
  ],
  [
    "full",
    (path: string) => {
      mkdirSync(join(path, "berth"))
      try {
        for (const size of [4096, 512, 1]) {
          for (let i = 0; ; i++) writeFileSync(join(path, `filler-${size}-${i}`), Buffer.alloc(size))
        }
      } catch {
        // The disk is full now.
      }
    },
    /the disk is full/,
    "Free space there"
  ]
] as const

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** Every command that writes to another folder than the folder of profiles, in the order in which they run. */
const commands = [
  ["node", "create", "web", ...order, "--wait"],
  ["node", "list"],
  ["node", "get", "web"],
  ["node", "wait", "web"],
  ["node", "ip", "web"],
  ["commitment", "set", "web", "auto_terminate", "--yes"],
  ["plan", "list"],
  ["cost"],
  ["limits"],
  ["doctor"],
  ["__complete", "bash", "--", "node", "get", ""],
  ["node", "delete", "web", "--yes", "--wait"]
]

describe.each(spoiled)("on a file system that is %s", (_, prepare, reason, remedy) => {
  it.live.each(["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"])(
    "every command works without %s, and reports nothing that is not its own",
    (variable) =>
      Effect.gen(function* () {
        const env = { HOME: yield* disk(() => {}), [variable]: yield* disk(prepare) }
        for (const args of commands) {
          const { code, stderr } = yield* berth(args, { env })
          assert.strictEqual(code, 0, `${args.join(" ")}: ${stderr}`)
          assert.notMatch(stderr, /E[A-Z]{4,}|\n.*at /)
        }
        assert.deepStrictEqual(json(yield* berth(["node", "list", "-o", "json"], { env })), [])
      }).pipe(
        Effect.scoped,
        Effect.provide(
          TestServer.layer(inDialect({ clock: "real", provisioning: "500 millis", termination: "500 millis" }))
        )
      )
  )

  it.live("a create whose record cannot be written names the node that it made", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), HOME: yield* disk(() => {}), XDG_STATE_HOME: yield* disk(prepare) }
      const { code, stderr } = yield* runFull(["node", "create", "web", ...order, "-o", "json"], { env })
      const [node] = json<ReadonlyArray<{ id: number }>>(yield* berth(["node", "list", "-o", "json"], { env }))
      assert.strictEqual(code, 10)
      const { error } = JSON.parse(stderr)
      assert.deepStrictEqual([error.code, error.details], ["StdoutFailed", { nodes: [{ id: node!.id, name: "web" }] }])
      assert.include(error.message, `Node ${node!.id} (web) was created, and is billed.`)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  for (const [what, args] of [
    ["a create with a key", ["node", "create", "web", ...order, "--idempotency-key", "job"]],
    ["a run", ["run", ...order, "--yes", "--", "true"]]
  ] as const) {
    it.live(`${what} is refused before it is sent, with what to do, because it could not be recorded`, () =>
      Effect.gen(function* () {
        const env = { HOME: yield* disk(() => {}), XDG_STATE_HOME: yield* disk(prepare) }
        const { code, stderr, stdout } = yield* berth(args, { env })
        assert.strictEqual(code, 10, stderr)
        assert.strictEqual(stdout, "")
        const [, message = "", hint] = /^error: (.+\.)\nhint: (.+)\n$/m.exec(stderr) ?? []
        assert.match(message, reason)
        assert.strictEqual(hint?.startsWith(`${remedy}, and run the same command again`), true, stderr)
        assert.deepStrictEqual(json(yield* berth(["node", "list", "-o", "json"], { env })), [])
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
    )
  }

  it.live("a login is refused in two lines with exit 10", () =>
    Effect.gen(function* () {
      const place = yield* disk(prepare)
      const { BERTH_ACCESS_TOKEN, BERTH_API_KEY, BERTH_BASE_URL } = yield* settings
      const { code, stderr } = yield* run(["auth", "login", "--base-url", BERTH_BASE_URL, ...placeFlags], {
        env: { HOME: yield* disk(() => {}), XDG_CONFIG_HOME: place },
        input: `${BERTH_API_KEY}\n${BERTH_ACCESS_TOKEN}\n`
      })
      assert.strictEqual(code, 10)
      assert.match(stderr, /^error: .+profiles\.json cannot be written: .+\.\nhint: .+ XDG_CONFIG_HOME; .+\n$/)
      assert.include(stderr, `hint: ${remedy}, or choose another folder with XDG_CONFIG_HOME; `)
      assert.match(stderr, reason)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
