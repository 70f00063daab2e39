// Ends `berth run`, which deletes the node. If `berth run` no longer runs, or does not end, `berth reap` deletes the node.
import { spawnSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { environment, filesIn, input, isRunning, readOr, say, show, startIn, until } from "./common.mjs"

/** How long `berth run` may take to end after each request to end. */
const maxEndMillis = 60_000

const folder = process.env.STATE_folder
// The main step ended before it began anything.
if (!folder) process.exit(0)

const files = filesIn(folder)
const before = readOr(files.log)?.length ?? 0
// A step of the job may have emptied the folder for temporary files.
mkdirSync(folder, { recursive: true })
writeFileSync(files.done, "")
const run = {
  pid: Number(readOr(files.pid)?.trim() || process.env.STATE_pid || 0),
  start: startIn(readOr(files.start) ?? "") ?? (process.env.STATE_start || undefined)
}
const isGone = () => (isRunning(run) ? undefined : true)

const signal = (name) => {
  try {
    if (isRunning(run)) process.kill(run.pid, name)
  } catch {
    // It has ended.
  }
}

// If the command of the run has not begun, only a signal can end the run.
let isEnded = readOr(files.node) === undefined ? undefined : await until(isGone, maxEndMillis)
if (!isEnded) {
  signal("SIGTERM")
  isEnded = await until(isGone, maxEndMillis)
}
// In this case the run has deleted its node, or left a readable lease.
const hasEndedByItself = Boolean(isEnded)
if (!isEnded) {
  signal("SIGKILL")
  await until(isGone, maxEndMillis)
}
show((readOr(files.log) ?? "").slice(before))

const berth = (...args) => spawnSync(input("berth") || "berth", args, { env: environment(), encoding: "utf8" })
const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Request JSON, because the result may also be about nodes of other jobs on this runner.
const reaped = berth("reap", "-o", "json")
for (const { id, name, outcome } of parsed(reaped.stdout ?? "") ?? []) show(`${outcome}: node ${id ?? ""} (${name})`)
const errors = (reaped.stderr ?? "").split("\n").flatMap((line) => {
  const error = parsed(line)?.error
  if (error === undefined) show(line)
  return error ?? []
})
for (const { hint, message } of errors) show(`${message}\n${hint}`)

const node = parsed(readOr(files.node) ?? "")
/** Whether an error is about this job's node, or the lease of its run. Not every system shows when the process of a lease started. */
const isOwn = ({ details }) =>
  (details?.run?.pid === run.pid && ["", run.start].includes(details.run.startTime)) ||
  (node?.id !== undefined && details?.node?.id === node.id)
/**
 * Whether an error is about the lease of another run, or about an unreadable lease. If this job's run has ended by itself, its own lease
 * is readable.
 */
const isOther = ({ code, details }) => details?.run !== undefined || (code === "LocalFileFault" && hasEndedByItself)
const isSummary = ({ code }) => code === "SomeFailed"
const about = errors.filter((error) => !isSummary(error))
const others = about.filter((error) => isOther(error) && !isOwn(error))
const isDone = reaped.status === 0 || (about.length > 0 && others.length === about.length)

/**
 * Whether the node still exists according to the service: if no state could be kept, `berth run` may have failed without leaving a lease.
 */
const isStill = () => {
  if (node?.id === undefined || input("reuse") === "true") return false
  const { status } = parsed(berth("node", "get", String(node.id), "-o", "json").stdout ?? "") ?? {}
  return status !== undefined && status !== "terminate"
}

if (!isDone || isStill()) {
  say(
    "::error::The node of this job may still be there, and is billed then: run berth reap on this runner, or berth node list."
  )
  process.exit(1)
}
if (others.length > 0) {
  say(
    "::warning::An earlier run on this runner left a lease that cannot be ended yet, and its node may be billed: see the message of berth reap."
  )
}
rmSync(folder, { recursive: true, force: true })
