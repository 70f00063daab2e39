/** A disk of a few megabytes that a test can fill. It is a file system in memory. Needs Linux and root. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

export const diskOf = (megabytes: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = mkdtempSync(join(tmpdir(), "berth-disk-"))
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "none", path])
      return path
    }),
    (path) =>
      Effect.sync(() => {
        execFileSync("umount", ["-l", path])
        rmSync(path, { recursive: true })
      })
  )

export const fill = (path: string) => {
  for (const size of [65_536, 4096, 512, 1]) {
    try {
      for (let i = 0; ; i++) writeFileSync(join(path, `filler-${size}-${i}`), Buffer.alloc(size))
    } catch {
      continue
    }
  }
}

export const free = (path: string) => {
  for (const name of readdirSync(path)) if (name.startsWith("filler-")) rmSync(join(path, name))
}
