/**
 * Locks between processes: one owner at a time, and when another process may take over.
 */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { isSoak } from "@berthkit/testing/chance"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { bootClock } from "../../../src/client/files/Boot.ts"
import { type Stamp, stampNow } from "../../../src/client/files/Stamp.ts"
import { nameOf, type Owner, ownerOf, self, withKeyLock } from "../../../src/client/creation/KeyLock.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-locks-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const program = fileURLToPath(new URL("locker.ts", import.meta.url))

/** Starts a process that takes locks. */
const locker = (...args: ReadonlyArray<string>) => Program.start(() => Program.ofNode(program, args))

/** The number of a process that has ended, and whose parent has waited for it. */
const endedProcess = Effect.promise(async () => {
  const { child, ended } = new Program(process.execPath, ["-e", "0"])
  await ended
  return child.pid!
})

/** Leaves a lock as a killed process does. */
const leave = (path: string, owner: Owner, heartbeat?: Stamp & { readonly id: string }) =>
  Effect.promise(async () => {
    await rm(path, { recursive: true, force: true })
    await mkdir(path)
    await writeFile(join(path, nameOf(owner)), heartbeat === undefined ? "" : JSON.stringify(heartbeat))
  })

/** Waits until a killed process has ended, even if its parent has not waited for it, because it runs for a while after the signal. */
const untilEnded = (pid: number) =>
  Effect.repeat(
    Effect.promise(async () => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined)
      // Without /proc, this cannot be seen.
      return stat === undefined || /\) [ZX] /.test(stat)
    }),
    { until: (hasEnded) => hasEnded }
  )

/** Whether the lock can be taken at once: the call that wants it reads the lock's owner at most three times, however slow the files are. */
const isFree = (path: string) =>
  Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const held = yield* Deferred.make<boolean>()
    let sleeps = 0
    const counting: Clock.Clock = Object.assign(Object.create(clock), {
      sleep: (duration: Duration.Duration) =>
        ++sleeps < 3 ? clock.sleep(duration) : Effect.andThen(Deferred.succeed(held, false), Effect.never)
    })
    const had = Effect.as(
      withKeyLock(path, () => Effect.void),
      true
    )
    return yield* Effect.raceFirst(Effect.provideService(had, Clock.Clock, counting), Deferred.await(held))
  })

/** Lets the file system answer all earlier requests, one after another, while the test's clock stands still. */
const fileSystem = Effect.promise(async () => {
  for (let turn = 0; turn < 40; turn++) await stat(tmpdir())
})

describe("the name of an owner", () => {
  it("contains all of it, whatever its machine is called", () => {
    const owner: Owner = { machine: "host a.b/c é", namespace: "", pid: 7, startTime: "", id: "x" }
    assert.deepStrictEqual(ownerOf(nameOf(owner)), owner)
    for (const name of ["free", "held", "held.a.b", "held.%.b.1.2.3", "notes.txt"]) {
      assert.isUndefined(ownerOf(name))
    }
  })
})

describe("a lock", () => {
  it.live("is held by one at a time within a process, and is free afterwards", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      let running = 0
      const alone = withKeyLock(path, () =>
        Effect.gen(function* () {
          assert.strictEqual(++running, 1)
          yield* Effect.yieldNow
          running--
        })
      )
      yield* Effect.all([alone, alone, alone], { concurrency: "unbounded" })
      assert.isFalse(existsSync(path))
    })
  )

  it.live("of a process of this boot is judged by that very process, not by its number", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      const me = yield* self
      const other = yield* locker("hold", path)
      yield* Effect.promise(() => other.printed("held"))
      const [held] = yield* Effect.promise(() => readdir(path))
      const alive = ownerOf(held!)!
      assert.isFalse(yield* isFree(path))
      // The owner has the same process number, but that process started at another time.
      yield* leave(path, { ...alive, startTime: String(Number(alive.startTime) - 1) })
      assert.isTrue(yield* isFree(path))
      yield* Effect.promise(() => other.kill())
      yield* leave(path, alive)
      assert.isTrue(yield* isFree(path))
      yield* leave(path, { ...me, pid: yield* endedProcess, id: "x" })
      assert.isTrue(yield* isFree(path))
    })
  )

  it.live("of a process that was killed and not yet waited for is free", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      // A shell that never waits for its child.
      const shell = `"$0" "$1" hold "$2" & echo started; exec sleep 60`
      yield* Program.start(() => new Program("sh", ["-c", shell, process.execPath, program, path]))
      const heldBy = Effect.promise(async () => {
        const names = await readdir(path).catch(() => [])
        return names.map(ownerOf).find((owner) => owner !== undefined)
      })
      const owner = yield* Effect.repeat(heldBy, { until: (found) => found !== undefined })
      process.kill(owner!.pid, "SIGKILL")
      yield* untilEnded(owner!.pid)
      assert.isTrue(yield* isFree(path))
    })
  )

  for (const [where, over] of [
    ["another container", { namespace: "4026599999" }],
    ["another boot or machine", { machine: "another boot" }],
    ["a machine that cannot be known", { machine: "", namespace: "" }]
  ] as const) {
    it.effect(
      `of ${where} is held while its heartbeat changes, and free in half the default deadline after it last did`,
      () =>
        Effect.gen(function* () {
          const path = join(yield* folder, "job.lock")
          const owner: Owner = { ...(yield* self), ...over, id: "x" }
          const elsewhere = { id: "x", wallMillis: 0, bootMillis: 0, bootClock: "another clock" }
          yield* leave(path, owner, elsewhere)
          let takenAt: number | undefined
          const waiter = yield* Effect.forkChild(
            withKeyLock(path, () => Effect.map(monotonicMillis, (now) => void (takenAt = now)))
          )
          const startedAt = yield* monotonicMillis
          let lastBeatAt = startedAt
          for (let second = 0; takenAt === undefined; second++) {
            // Heartbeats every five seconds for most of a minute, then none.
            if (second % 5 === 0 && second < 50) {
              const heartbeat = JSON.stringify({ ...elsewhere, bootMillis: second })
              yield* Effect.promise(() => writeFile(join(path, nameOf(owner)), heartbeat))
              lastBeatAt = yield* monotonicMillis
            }
            yield* fileSystem
            yield* TestClock.adjust("1 second")
          }
          yield* Fiber.join(waiter)
          assert.isAtLeast(takenAt - lastBeatAt, 30_000)
          assert.isAtMost(takenAt - lastBeatAt, 32_000)
        })
    )
  }

  it.live(
    "of another container of this boot is free at once when its heartbeat is half a minute old by the clock of the boot",
    () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "job.lock")
        const owner: Owner = { ...(yield* self), namespace: "4026599999", id: "x" }
        const now = yield* stampNow(yield* bootClock)
        for (const [ageMillis, free] of [
          [31_000, true],
          [29_000, false]
        ] as const) {
          // The owner's wall clock does not matter.
          yield* leave(path, owner, { ...now, bootMillis: now.bootMillis - ageMillis, wallMillis: 0, id: "x" })
          assert.strictEqual(yield* isFree(path), free)
        }
        // The heartbeat of an earlier owner does not count for this one.
        yield* leave(path, owner, { ...now, bootMillis: now.bootMillis - 31_000, id: "y" })
        assert.isFalse(yield* isFree(path))
      })
  )

  it.live("that was taken over is not confirmed to the owner that stood still", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      const failure = yield* withKeyLock(path, ({ confirm }) =>
        Effect.gen(function* () {
          yield* confirm
          yield* leave(path, { ...(yield* self), machine: "another", id: "x" })
          return yield* Effect.flip(confirm)
        })
      )
      assert.strictEqual(failure.message, "another process took it over while this one stood still")
      assert.lengthOf(yield* Effect.promise(() => readdir(path)), 1)
    })
  )

  it.live("shows a heartbeat while it is held", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      const heartbeat = Effect.promise(async () => {
        const [name] = await readdir(path)
        return JSON.parse(await readFile(join(path, name!), "utf8")) as Stamp
      })
      yield* withKeyLock(path, () =>
        Effect.gen(function* () {
          const first = yield* heartbeat
          const later = yield* Effect.repeat(heartbeat, {
            until: ({ bootMillis }) => bootMillis !== first.bootMillis
          })
          assert.isAbove(later.bootMillis, first.bootMillis)
        })
      )
    })
  )

  it.live("whose folder was emptied begins anew; one with another file in it fails", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "job.lock")
      yield* Effect.promise(() => mkdir(path))
      assert.isTrue(yield* isFree(path))
      yield* Effect.promise(async () => {
        await mkdir(path)
        await writeFile(join(path, "notes.txt"), "")
      })
      const { message } = yield* Effect.flip(withKeyLock(path, () => Effect.void))
      assert.strictEqual(message, `${path} is damaged; remove it`)
    })
  )

  it.live("that is a link is not followed", () =>
    Effect.gen(function* () {
      const [path, target] = [join(yield* folder, "job.lock"), yield* folder]
      yield* Effect.promise(() => symlink(target, path))
      const { message } = yield* Effect.flip(withKeyLock(path, () => Effect.void))
      assert.strictEqual(message, `${path} is not a folder`)
      assert.deepStrictEqual(yield* Effect.promise(() => readdir(target)), [])
    })
  )

  it.live("whose folder cannot be made fails", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "missing", "job.lock")
      const { code } = yield* Effect.flip(withKeyLock(path, () => Effect.void))
      assert.strictEqual(code, "ENOENT")
    })
  )
})

/** Locks that each of the processes wants. */
const wanted = isSoak ? 200 : 30

describe("six processes that want the locks of dead ones", () => {
  it.live("take each over one at a time: no two hold one at once", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const dead = { ...(yield* self), pid: yield* endedProcess }
      yield* Effect.forEach(
        Array.from({ length: wanted }, (_, i) => i),
        (i) => leave(join(path, `job-${i}.lock`), { ...dead, id: `dead${i}` })
      )
      const lockers = yield* Effect.replicateEffect(locker("race", path, String(wanted)), 6)
      const outputs = yield* Effect.promise(() => Promise.all(lockers.map((locker) => locker.succeeded())))
      const counts = outputs.map((output) => JSON.parse(output) as { taken: number; overlaps: number })
      assert.deepStrictEqual(
        counts.map(({ taken }) => taken),
        lockers.map(() => wanted)
      )
      assert.strictEqual(
        counts.reduce((sum, { overlaps }) => sum + overlaps, 0),
        0
      )
    })
  )
})
