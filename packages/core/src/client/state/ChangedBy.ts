/** Says who asks for changes, for the log of changes: the command or program, and the fleet or lease. The log itself adds the user. */
import { Context } from "effect"
import type { Change } from "./Change.ts"

/** The file name of the running program; `client` if it has none. */
const programName = (): string => globalThis.process?.argv?.[1]?.split(/[\\/]/).at(-1) || "client"

/** The command that asks for changes, such as `node create` of `berth`. Default: the program. */
export const ChangedBy = Context.Reference<string>("@berthkit/core/client/state/ChangedBy", {
  defaultValue: programName
})

/** The fleet or the lease for which changes are sent. Both are null for changes that belong to neither. */
export const ChangedFor = Context.Reference<Pick<Change, "fleet" | "lease">>("@berthkit/core/client/state/ChangedFor", {
  defaultValue: () => ({ fleet: null, lease: null })
})
