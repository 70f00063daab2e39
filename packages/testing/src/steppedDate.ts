/** A module for `node --import`. It replaces `Date`, so that `stepWallClock` can imitate a change of the machine's clock. */
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
