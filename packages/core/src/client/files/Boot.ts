/**
 * Identifies the boot of the machine. Processes of one boot share a clock that steps of the wall clock do not change. The boot is known only on Linux, from `/proc`; its clock only in Node.
 */
import { Effect } from "effect"
import { builtin } from "../options/builtin.ts"

/** Reads from `/proc`, synchronously because no disk is involved. Null if there is no `/proc`. */
const fromProc = (read: (fs: typeof import("node:fs")) => string): Effect.Effect<string | null> =>
  Effect.orElseSucceed(
    Effect.try(() => read(builtin("node:fs")!)),
    () => null
  )

/** The id of this machine's boot; null if unknown. */
export const bootId: Effect.Effect<string | null> = fromProc((fs) =>
  fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
)

/** A namespace of this process, such as `pid:[4026531836]`; null if unknown. */
export const namespaceOf = (name: "pid" | "time"): Effect.Effect<string | null> =>
  fromProc((fs) => fs.readlinkSync(`/proc/self/ns/${name}`))

/** A runtime takes up to this long to start, so its clock may differ from the age of its process by as much. */
const startingSeconds = 1

/**
 * Whether the monotonic clock began before this process. Then it is the boot's clock, which other processes share. In Bun and Deno it
 * begins with the process. The machine's uptime is no test: it includes sleep, and a container may have its own.
 */
const isClockOfBoot: Effect.Effect<boolean> = Effect.sync(() => {
  const { hrtime, uptime } = globalThis.process
  return Number(hrtime.bigint()) / 1e9 > uptime() + startingSeconds
})

/**
 * Names the monotonic clock of this process: equal names mean the same clock. Null if the clock is unknown or begins
 * with the process, because other processes would take its times for times since the boot.
 */
export const bootClock: Effect.Effect<string | null> = Effect.gen(function* () {
  const boot = yield* bootId
  return boot !== null && (yield* isClockOfBoot) ? `${boot} ${yield* namespaceOf("time")}` : null
})
