/**
 * The leases that berth keeps of an account: each is written before its node is created. Records that are not leases, or of a later version,
 * are left alone and reported.
 */
import { faultOf, noStore, recordsOf } from "../state/Kind.ts"
import { Lease } from "./Lease.ts"

const cannot = "The leases of nodes cannot be kept"

export const leases = recordsOf({ kind: "lease", schema: Lease, keyOf: ({ key }) => key, cannot })

/** That leases cannot be kept: without them no node is leased, because nothing would delete it. */
export const leaseFault = (why: Pick<typeof noStore, "code" | "detail" | "path">) =>
  faultOf(cannot)({ ...why, hint: noStore.hint })
