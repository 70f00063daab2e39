/**
 * How plans are shown.
 */
import { Plan } from "@berth/core/domain/Plan"
import { planColumns } from "./planColumns.ts"
import { encodeWith, type View } from "./print.ts"

export const planView: View<Plan> = { encode: encodeWith(Plan), columns: planColumns, none: "no such plans" }
