/** Measures the start of a binary, as a whole process, against an empty Node process. */
import { binary, wallMillis } from "../processes.ts"
import { ratioAtMost, type Row } from "../Row.ts"

/** `berth --version` from start to exit. */
export const versionRow = (): Row => {
  const measure = () => ({
    subject: wallMillis([binary("cli", "berth"), "--version"]),
    baseline: wallMillis(["-e", "0"])
  })
  measure() // fills the compile cache, like the first start after an install
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
