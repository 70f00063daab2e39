/** The tarballs of the published packages. They are packed once for all files of a run, because that compiles all sources. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fillPackages, packFolder } from "@berthkit/scripts/pack"

/** Has the paths of the tarballs: of those that are about to be published, if given. */
const variable = "BERTH_TARBALLS"

/** Their paths. Next to each is a folder with its content. */
export const tarballs = (): ReadonlyArray<string> => process.env[variable]!.split(delimiter)

/** Vitest runs this once. */
export const setup = async () => {
  if (process.env[variable] !== undefined) return
  const folder = await mkdtemp(join(tmpdir(), "berth-packages-"))
  process.env[variable] = (await fillPackages(join(folder, "packages"))).map(packFolder).join(delimiter)
  return () => rm(folder, { recursive: true, force: true })
}
