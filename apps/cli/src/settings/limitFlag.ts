/**
 * The flag that ends a list early. `output/printLimited.ts` states what it leaves out.
 */
import { flag, wholeNumber } from "../commandLine/Parameter.ts"

/** `what` is listed. */
export const limitFlag = (what: string) => flag("limit", wholeNumber(1), `Maximum number of ${what}`)
