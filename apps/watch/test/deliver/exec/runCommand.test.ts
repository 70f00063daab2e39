import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runCommand } from "../../../src/deliver/exec/runCommand.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-exec-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const run = (...command: readonly [string, ...Array<string>]) =>
  runCommand({ _tag: "Exec", command, timeoutMillis: 10_000, variables: ["NOTIFY_ROOM"] }, `{"a":"$b"}`)

const shell = (script: string, ...args: ReadonlyArray<string>) => run("/bin/sh", "-c", script, "sh", ...args)

describe("an exec sink", () => {
  it.effect("gives the event on stdin and the arguments as they are, and delivers with exit code 0", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "out")
      expect(yield* shell(`cat > "$1"; printf '%s' "$2" >> "$1"`, path, "; exit 1")).toEqual({ _tag: "Delivered" })
      expect(readFileSync(path, "utf8")).toBe(`{"a":"$b"}\n; exit 1`)
    })
  )

  it.effect("fails with any other exit code, with a signal, and without the program", () =>
    Effect.gen(function* () {
      expect(yield* shell("exit 3")).toMatchObject({ kind: "refused", reason: "it ended with 3" })
      expect(yield* shell("kill -9 $$")).toMatchObject({ kind: "refused", reason: "it ended with SIGKILL" })
      expect(yield* run("/nowhere/notify")).toMatchObject({
        kind: "unavailable",
        reason: expect.stringMatching("ENOENT")
      })
      // Node throws this error instead of emitting it.
      expect(yield* run("/dev/null/notify")).toMatchObject({
        kind: "unavailable",
        reason: "it could not be started: spawn ENOTDIR"
      })
    })
  )

  it.effect("tells the end of what a program that failed wrote to stderr, on one line", () =>
    Effect.gen(function* () {
      expect(yield* shell("echo no such room: 42 >&2; echo '  check it' >&2; exit 3")).toMatchObject({
        reason: "it ended with 3: no such room: 42 check it"
      })
      expect(yield* shell("echo ignored >&2")).toEqual({ _tag: "Delivered" })
      const long = yield* shell(`i=0; while [ $i -lt 20000 ]; do echo "line $i" >&2; i=$((i + 1)); done; exit 1`)
      expect(long).toMatchObject({ reason: expect.stringMatching(/^it ended with 1: ….* line 19999$/) })
      expect("reason" in long && long.reason.length).toBe("it ended with 1: ".length + 300)
    })
  )

  it.effect("tells no secret that its variables hold, nor a password in an address", () =>
    Effect.gen(function* () {
      process.env["NOTIFY_ROOM"] = "https://chat.test/hook/T0-secret-B1"
      const said = yield* shell(
        `echo "curl: POST $NOTIFY_ROOM failed; proxy http://me:pass@proxy.test" >&2; exit 22`
      ).pipe(Effect.ensuring(Effect.sync(() => delete process.env["NOTIFY_ROOM"])))
      expect(said).toMatchObject({
        reason: "it ended with 22: curl: POST <redacted> failed; proxy http://<redacted>@proxy.test"
      })
    })
  )

  it.live("does not wait for what a program leaves running, which may go on writing to stderr", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const [pipe, out] = [join(path, "pipe"), join(path, "out")]
      execFileSync("mkfifo", [pipe])
      const left = `(read line < "$1"; echo more >&2 && echo written > "$2") &`
      const said = yield* shell(`${left} echo failed >&2; exit 1`, pipe, out)
      expect(said).toMatchObject({ reason: "it ended with 1: failed" })
      writeFileSync(pipe, "go on\n")
      yield* Effect.promise(() => expect.poll(() => existsSync(out) && readFileSync(out, "utf8")).toBe("written\n"))
    })
  )

  it.effect("ends a program that takes too long, with all that it started", () =>
    Effect.gen(function* () {
      // A pipe that ends when the last process that writes to it has ended.
      const path = join(yield* folder, "pipe")
      execFileSync("mkfifo", [path])
      const pipe = createReadStream(path)
      const opened = once(pipe, "open")
      const ended = once(pipe.resume(), "end")
      const running = yield* Effect.forkChild(shell(`exec 3> "$1"; sleep 1000 & wait`, path))
      yield* Effect.promise(() => opened)
      yield* TestClock.adjust("10 seconds")
      expect(yield* Fiber.join(running)).toMatchObject({ kind: "refused", reason: "it did not end within 10 s" })
      yield* Effect.promise(() => ended)
    })
  )

  it.effect("gives the program the common variables and those that the sink names, and no others", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "env")
      const given = { HOME: "/home/notify", LANG: "C.UTF-8", LC_TIME: "C.UTF-8", TZ: "UTC", NOTIFY_ROOM: "42" }
      const own = { BERTH_API_KEY: "k", CHAT_URL: "https://chat.test/secret", HTTPS_PROXY: "http://me:pass@proxy.test" }
      const before = { ...process.env }
      Object.assign(process.env, given, own)
      yield* run("/usr/bin/env", "sh", "-c", `cat /proc/self/environ > "$1"`, "sh", path).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            for (const name of Object.keys({ ...given, ...own })) {
              if (before[name] === undefined) delete process.env[name]
              else process.env[name] = before[name]
            }
          })
        )
      )
      // The shell adds its working directory.
      const found = readFileSync(path, "utf8")
        .split("\0")
        .filter((line) => line !== "" && !line.startsWith("PWD="))
      const common = Object.entries(before).filter(([name]) => name === "PATH" || /^LC_[A-Z]+$/.test(name))
      const expected = Object.entries({ ...Object.fromEntries(common), ...given }).map((entry) => entry.join("="))
      expect(found.toSorted()).toEqual(expected.toSorted())
    })
  )
})
