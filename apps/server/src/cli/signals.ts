/**
 * `NodeRuntime.runMain` handles the first SIGINT or SIGTERM. This module handles the rest: a second signal ends the process
 * at once, and a hang-up of the terminal ends a server that runs in the foreground.
 */
import { readFileSync } from "node:fs"
import { constants } from "node:os"

/**
 * Whether the process runs in the foreground of a terminal; true if unknown. A server in the background is meant to outlive its terminal.
 * Nothing else shows this, because Node resets the signal handling that `nohup` sets.
 */
const isInForeground = (): boolean => {
  try {
    // The fields after the last `)`, which ends the name: state, parent, group, session, terminal, and the terminal's
    // foreground group. The name itself may contain anything.
    const stat = readFileSync("/proc/self/stat", "latin1")
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return group === foreground
  } catch {
    return true
  }
}

/** Handles signals until the process ends. */
export const handleSignals = (): void => {
  let isEnding = false
  const end = (signal: NodeJS.Signals) => {
    if (isEnding) process.exit(128 + constants.signals[signal])
    isEnding = true
  }
  process.on("SIGINT", end).on("SIGTERM", end)
  const startedInForeground = isInForeground()
  process.on("SIGHUP", () => {
    if (startedInForeground && !isEnding) process.kill(process.pid, "SIGTERM")
  })
}
