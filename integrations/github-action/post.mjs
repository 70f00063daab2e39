// Ends `berth run`, which deletes the node; where that does not run any more, or does not end, `berth reap` deletes it.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { environment, filesIn, input, isRunning, readOr, say, show, until } from "./common.mjs"

/** So long `berth run` may take after each request to end. */
const maxEndMillis = 60_000

const folder = process.env.STATE_folder
// The main step was ended before it began anything.
if (!folder) process.exit(0)

const files = filesIn(folder)
const before = readOr(files.log)?.length ?? 0
// A step of the job may have emptied the folder for temporary files.
mkdirSync(folder, { recursive: true })
writeFileSync(files.done, "")
const pid = Number(readOr(files.pid)?.trim() || process.env.STATE_pid || 0)
const isGone = () => (pid > 0 && isRunning(pid) ? undefined : true)

const signal = (name) => {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

// A run whose command has not begun has nothing to end it but a signal.
let isEnded = readOr(files.node) === undefined ? undefined : await until(isGone, maxEndMillis)
if (!isEnded) {
  if (pid > 0) signal("SIGTERM")
  isEnded = await until(isGone, maxEndMillis)
}
// Then it has deleted its node, or left a lease that can be read.
const hasEndedByItself = Boolean(isEnded)
if (!isEnded) {
  signal("SIGKILL")
  await until(isGone, maxEndMillis)
}
show((readOr(files.log) ?? "").slice(before))

const reaped = spawnSync(input("berth") || "berth", ["reap"], { env: environment(), encoding: "utf8" })
show(`${reaped.stdout ?? ""}${reaped.stderr ?? ""}`)
/** A lease that an earlier job left cannot be read. */
const isOfAnother = reaped.status === 10 && hasEndedByItself
if (isOfAnother) {
  say("::warning::A lease on this runner cannot be read, and its node may be billed: see the message of berth reap.")
} else if (reaped.status !== 0) {
  say(
    "::error::The node of this job may still be there, and is billed then: run berth reap on this runner, or berth node list."
  )
  process.exit(1)
}
rmSync(folder, { recursive: true, force: true })
