/**
 * What signals do besides the first SIGINT or SIGTERM, which `NodeRuntime.runMain` handles: a second one ends the process at
 * once, and a hang-up of the terminal ends a server in its foreground.
 */
import { readFileSync } from "node:fs"
import { constants } from "node:os"

/**
 * Whether the process runs in the foreground of a terminal; true if unknown. Node resets the signal handling that `nohup` sets,
 * so this is the only sign that a server is meant to outlive its terminal.
 */
const isInForeground = (): boolean => {
  try {
    // The fields after the name, which may contain anything: state, parent, group, session, terminal, and the terminal's
    // foreground group.
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
