/**
 * What signals mean besides the first SIGINT or SIGTERM, which `NodeRuntime.runMain` takes: a second one ends the process at
 * once, and a hang-up of the terminal ends a server in its foreground.
 */
import { readFileSync } from "node:fs"
import { constants } from "node:os"

/**
 * Whether the process belongs to a terminal and is not in its background. Node resets what `nohup` has set, so that only this
 * shows that a server is meant to outlive its terminal. Where it cannot be known, it is taken for true.
 */
const isInForeground = (): boolean => {
  try {
    // After the name, which may hold anything: state, parent, group, session, terminal, the group in its foreground.
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
