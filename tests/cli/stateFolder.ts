/**
 * A state folder for one test, as the value of `XDG_STATE_HOME`: it holds the files that processes share.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

export const stateFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-state-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)
