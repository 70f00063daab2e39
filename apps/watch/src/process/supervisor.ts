/**
 * Notifications to systemd. If systemd did not start the process, nothing happens. They use the program `systemd-notify`,
 * because Node cannot open datagram sockets in the file system.
 */
import { spawn } from "node:child_process"
import { readVariable } from "@berthkit/terminal/Connection"
import { Effect, Option, Redacted, Schedule } from "effect"

type Notification = "READY=1" | "RELOADING=1" | "STOPPING=1" | "WATCHDOG=1"

/** A notification that takes longer is given up. */
const timeoutMillis = 5000

const send = (notification: Notification): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const child = spawn("systemd-notify", [notification], { stdio: "ignore", timeout: timeoutMillis })
    const done = () => resume(Effect.void)
    child.once("error", done).once("exit", done)
  })

/** Notifies systemd; failures are ignored. */
export const notifySupervisor = Effect.fnUntraced(function* (notification: Notification) {
  if (Option.isSome(yield* readVariable("NOTIFY_SOCKET"))) yield* send(notification)
})

/** Feeds systemd's watchdog for as long as the process runs its fibers, even if the service does not answer. */
export const feedWatchdog = Effect.gen(function* () {
  const found = yield* readVariable("WATCHDOG_USEC")
  const micros = Option.isSome(found) ? Number(Redacted.value(found.value)) : 0
  if (!(micros > 0)) return
  // Three times per interval, so that a lost notification does no harm.
  yield* Effect.repeat(notifySupervisor("WATCHDOG=1"), Schedule.spaced(micros / 1000 / 3))
})
