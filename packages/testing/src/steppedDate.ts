/**
 * For `node --import`: a `Date` that `stepWallClock` steps, as when the clock of the machine is set.
 */
const RealDate = globalThis.Date
let ahead = 0

class SteppedDate extends RealDate {
  constructor(...given: ReadonlyArray<unknown>) {
    super(...((given.length === 0 ? [SteppedDate.now()] : given) as [number]))
  }
  static override now() {
    return RealDate.now() + ahead
  }
}

declare global {
  var stepWallClock: (millis: number) => void
}

globalThis.Date = SteppedDate as DateConstructor
globalThis.stepWallClock = (millis) => {
  ahead += millis
}
