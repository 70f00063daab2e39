/**
 * Imported before a program: on SIGUSR2 it writes to stderr how long a turn of the event loop has taken at most since the last
 * time, in milliseconds of processor time, which does not depend on what else the machine is busy with.
 */
import { writeSync } from "node:fs"
import { setInterval } from "node:timers"

const cpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

let count = 0
let maxMillis = 0
let before = cpuMillis()

setInterval(() => {
  const now = cpuMillis()
  maxMillis = Math.max(maxMillis, now - before)
  before = now
}, 1).unref()

process.on("SIGUSR2", () => {
  writeSync(2, `turn ${++count}: ${maxMillis.toFixed(1)} ms\n`)
  maxMillis = 0
})
