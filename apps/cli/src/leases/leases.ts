/**
 * The leases of an account, each written before its node is created. Records that are not leases, or are of a later version, are left alone
 * and reported.
 */
import { fileRemedyOf } from "@berthkit/core/domain/fileReason"
import { faultOf, noStore, recordsOf } from "../state/Kind.ts"
import { Lease } from "./Lease.ts"

const cannot = "The leases of nodes cannot be kept"

export const leases = recordsOf({ kind: "lease", schema: Lease, keyOf: ({ key }) => key, cannot })

/** The failure if leases cannot be written. `berth run` then creates no node, because nothing would delete the node after a killed run. */
export const leaseFault = (why: Pick<typeof noStore, "code" | "detail" | "path">) => {
  const remedy = fileRemedyOf(why.code)
  return faultOf(cannot)({
    ...why,
    hint: remedy === undefined ? noStore.hint : `${remedy}, and run the same command again.`
  })
}
