/**
 * That leases cannot be read or written: without them no node is leased, because nothing would delete it.
 */
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { LocalFileFault } from "./CliFailure.ts"
import { fileReason } from "./fileReason.ts"

export const leaseFileFault = (error: FileFault): LocalFileFault =>
  new LocalFileFault({
    path: error.path ?? "",
    message: `The leases of nodes cannot be kept: ${fileReason(error)}.`,
    hint: "Set HOME or XDG_STATE_HOME to a folder that can be written; see: berth doctor"
  })
