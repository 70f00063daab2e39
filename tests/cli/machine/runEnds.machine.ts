/**
 * Checks that a run ends all its processes and deletes its node even in these cases: its command has started other processes, with or
 * without a terminal, or the disk is full or read-only during the delete. Needs Linux, its `script`, and root.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { run, settings } from "../berth.ts"
import { stateFolder } from "../stateFolder.ts"
import { binary, service, wordsOf } from "./ofRun.ts"

const statuses = Effect.flatMap(TestServer, ({ control, id }) =>
  Effect.map(Effect.orDie(control.nodes.list({ params: { world: id }, query: {} })), (found) =>
    found.map(({ status }) => status)
  )
)

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-ends-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Starts an orphan and a process that ignores signals, and writes their process ids to files. */
const family = (folder: string) => [
  "sh",
  "-c",
  `(sleep 300 & echo $! > ${folder}/orphan); sh -c 'trap "" TERM INT; while :; do sleep 0.1; done' & echo $! > ${folder}/deaf; echo started; wait`
]

const isThere = (file: string): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${readFileSync(file, "utf8").trim()}/stat`, "utf8"))
  } catch {
    return false
  }
}

/** Waits until the process is gone, which may take a moment after SIGKILL. */
const untilGone = (file: string) =>
  Effect.repeat(
    Effect.sync(() => isThere(file)),
    { until: (there) => !there, schedule: Schedule.spaced("50 millis") }
  )

describe("a command that has started others", () => {
  it.live("ends with all of them when --ttl is over", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const folder = yield* folderOf
      const { code, stderr } = yield* run(wordsOf(family(folder), "--ttl", "4s"), { env })
      assert.strictEqual(code, 7, stderr)
      assert.isTrue(existsSync(join(folder, "orphan")))
      yield* untilGone(join(folder, "orphan"))
      yield* untilGone(join(folder, "deaf"))
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("ends with its remaining children when --ttl is over at a terminal, and can read the terminal", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const folder = yield* folderOf
      const command = [
        "sh",
        "-c",
        `sh -c 'trap "" TERM; while :; do sleep 0.1; done' & echo $! > ${folder}/deaf; read line < /dev/tty; echo "read $line"; wait`
      ]
      const quoted = [process.execPath, binary, ...wordsOf(command, "--ttl", "5s")]
        .map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`)
        .join(" ")
      const terminal = yield* Program.start(
        () =>
          new Program("script", ["--quiet", "--return", "--flush", "--command", `exec ${quoted}`, "/dev/null"], {
            env: { ...env, TERM: "xterm" },
            isInputOpen: true
          })
      )
      yield* Effect.sync(() => terminal.child.stdin.write("words\n"))
      yield* Effect.promise(() => terminal.printed("read words"))
      assert.strictEqual((yield* Effect.promise(() => terminal.ended)).code, 7)
      yield* untilGone(join(folder, "deaf"))
      assert.deepStrictEqual(yield* statuses, ["terminate"])
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.live("has not succeeded if a real-time signal ends it", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      assert.strictEqual((yield* run(wordsOf(["sh", "-c", "kill -34 $$"]), { env })).code, 162)
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})

/** A small file system in memory. */
const disk = Effect.acquireRelease(
  Effect.sync(() => {
    const path = mkdtempSync(join(tmpdir(), "berth-disk-"))
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "none", path])
    return path
  }),
  (path) =>
    Effect.sync(() => {
      execFileSync("umount", [path])
      rmdirSync(path)
    })
)

describe("a run whose disk is spoiled while its command runs", () => {
  const spoilings = [
    ["full", (path: string) => `cat /dev/zero > ${path}/filler`],
    ["read-only", (path: string) => `mount -o remount,ro ${path}`]
  ] as const

  for (const [name, spoil] of spoilings) {
    it.live.each(["exit 0", "exit 3"])(`deletes its node if the disk is ${name}: %s`, (end) =>
      Effect.gen(function* () {
        const path = yield* disk
        const env = { ...(yield* settings), XDG_STATE_HOME: path }
        const ended = yield* run(wordsOf(["sh", "-c", `${spoil(path)} 2>/dev/null; ${end}`]), { env })
        assert.include(ended.stderr, "Deleted node")
        assert.deepStrictEqual(yield* statuses, ["terminate"])
        assert.strictEqual(ended.code, Number(end.slice(5)), ended.stderr)
      }).pipe(Effect.scoped, Effect.provide(service()))
    )

    it.live(`looks for a node whose create has no reply, and deletes it, if the disk is ${name} by then`, () =>
      Effect.gen(function* () {
        const path = yield* disk
        const env = { ...(yield* settings), XDG_STATE_HOME: path }
        yield* Effect.flatMap(TestServer, ({ arm }) =>
          arm([{ fault: "latency", delay: "10 minutes", scope: { operation: "nodes.create" } }])
        )
        const running = yield* Program.start(() =>
          Program.ofNode(binary, wordsOf(["true"]), { env: { PATH: process.env["PATH"], ...env } })
        )
        yield* Effect.repeat(statuses, { until: ({ length }) => length > 0, schedule: Schedule.spaced("50 millis") })
        yield* Effect.sync(() => execFileSync("sh", ["-c", `${spoil(path)} 2>/dev/null || true`]))
        running.signal("SIGTERM")
        const ended = yield* Effect.promise(() => running.ended)
        assert.strictEqual(ended.code, 143, ended.stderr)
        assert.deepStrictEqual(yield* statuses, ["terminate"], ended.stderr)
      }).pipe(Effect.scoped, Effect.provide(service()))
    )
  }
})
