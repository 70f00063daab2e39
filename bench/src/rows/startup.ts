/**
 * Starting: the whole process, against the least that Node can do.
 */
import { binary, wallMillis } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"

/** `berth --version` from start to exit. */
export const versionRow = (): Row => {
  const measure = () => ({
    subject: wallMillis([binary("cli", "berth"), "--version"]),
    baseline: wallMillis(["-e", "0"])
  })
  measure() // fills the compile cache, as the first start after an install does
  return {
    name: "start",
    subject: "berth --version",
    baseline: "node -e 0",
    unit: "ms",
    targets: [ratioAtMost(1.5)],
    pairs: 21,
    measure
  }
}
