/**
 * The folder of an account in the user's state folder, where berth keeps what belongs to it: proposals, the fleets of this machine.
 */
import { basename, dirname } from "node:path"
import type { Connection } from "@berthkit/terminal/Connection"

/** The folder, and the hash that names the account; undefined where the user has no state folder. */
export const accountFolderOf = ({ files: { commitments } }: Pick<Connection, "files">) => {
  if (commitments === undefined) return undefined
  // Each file that the client names is directly in it.
  const folder = dirname(commitments)
  return { folder, id: basename(folder) }
}
