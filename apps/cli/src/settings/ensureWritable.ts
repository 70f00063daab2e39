/**
 * Whether a file could be written: its folder, or the nearest one above it that exists, takes new files. Writes nothing.
 */
import { type FileFault, withFiles } from "@berthkit/core/client/files/StateFiles"
import type { Effect } from "effect"

export const ensureWritable = (path: string): Effect.Effect<void, FileFault> =>
  withFiles(async (fs) => {
    for (let folder = path; ;) {
      folder = folder.slice(0, folder.lastIndexOf("/")) || "/"
      const about = await fs.stat(folder).catch(() => undefined)
      if (about?.isDirectory() === false) throw Object.assign(new Error(), { code: "ENOTDIR" })
      if (about !== undefined) return fs.access(folder, fs.constants.W_OK)
      if (folder === "/") return
    }
  })
