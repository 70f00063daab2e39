/** For `node --import`: a wall clock that is ahead by as many milliseconds as `CLOCK_AHEAD` says. */
import "@berthkit/testing/steppedDate"

globalThis.stepWallClock(Number(process.env["CLOCK_AHEAD"] ?? 0))
