/**
 * A process that takes locks, for tests. `locker.ts hold LOCK` takes a lock, prints `held`, and keeps the lock. `locker.ts try LOCK MILLIS`
 * prints how long it took to get the lock, or `null` if that took longer. `locker.ts race FOLDER COUNT` takes `job-0.lock` and so on, all
 * at once, and counts how often it was not alone: each owner makes a file that must not exist yet.
 */
import { open, rm } from "node:fs/promises"
import { Console, Effect, Option } from "effect"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { withKeyLock } from "../../../src/client/creation/KeyLock.ts"

const [what, path, count] = process.argv.slice(2) as [string, string, string]

const race = Effect.gen(function* () {
  let taken = 0
  let overlaps = 0
  const enter = (i: number) =>
    withKeyLock(`${path}/job-${i}.lock`, () =>
      Effect.promise(async () => {
        const inside = `${path}/inside-${i}`
        const file = await open(inside, "wx").catch(() => undefined)
        if (file === undefined) overlaps++
        // Keep the file long enough that another process that wrongly has the lock, too, finds it.
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
        await file?.close()
        if (file !== undefined) await rm(inside)
        taken++
      })
    )
  const numbers = Array.from({ length: Number(count) }, (_, i) => i)
  yield* Effect.forEach(numbers, enter, { concurrency: "unbounded" })
  yield* Console.log(JSON.stringify({ taken, overlaps }))
})

const hold = withKeyLock(path, () => Effect.andThen(Console.log("held"), Effect.sleep("1 day")))

const attempt = Effect.gen(function* () {
  const startedAt = yield* monotonicMillis
  const took = withKeyLock(path, () => Effect.map(monotonicMillis, (now) => now - startedAt))
  yield* Console.log(JSON.stringify(Option.getOrNull(yield* Effect.timeoutOption(took, Number(count)))))
})

await Effect.runPromise(what === "race" ? race : what === "try" ? attempt : hold)
