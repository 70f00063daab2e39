/** A module for `node --import`: SIGUSR2 sets the clock of the process forward by an hour, and the next SIGUSR2 sets it back. */
import "@berthkit/testing/steppedDate"

const hourMillis = 3_600_000
let isAhead = false

process.on("SIGUSR2", () => {
  globalThis.stepWallClock(isAhead ? -hourMillis : hourMillis)
  isAhead = !isAhead
})
