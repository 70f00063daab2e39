/**
 * Amounts of money in flags.
 */
import { Option } from "effect"
import type { Value } from "../commandLine/Parameter.ts"

export const rupeesPerHour: Value<number> = {
  metavar: "₹/HOUR",
  parse: (given) => (/^\d+(?:\.\d+)?$/.test(given) ? Option.some(Number(given)) : Option.none()),
  expected: () => "expected rupees per hour, such as 12.5"
}

export const inRupees: Value<number> = {
  ...rupeesPerHour,
  metavar: "₹",
  expected: () => "expected rupees, such as 46000"
}
