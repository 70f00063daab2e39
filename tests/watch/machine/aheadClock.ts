/** A module for `node --import`: sets the wall clock of the process ahead by `CLOCK_AHEAD` milliseconds. */
import "@berthkit/testing/steppedDate"

globalThis.stepWallClock(Number(process.env["CLOCK_AHEAD"] ?? 0))
