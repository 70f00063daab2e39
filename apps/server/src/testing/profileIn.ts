/**
 * The profile that a test names by its file.
 */
import { readFile } from "node:fs/promises"
import { Result } from "effect"
import type { Profile } from "@berthkit/learn/Profile"

/** The profile in a file, or in one sentence why it is none. Rejects where the file cannot be read. */
export const profileIn = async (file: string): Promise<Result.Result<Profile, string>> => {
  // Its schema takes a test without one as long to load as it takes to read one.
  const { readProfile } = await import("@berthkit/learn/Profile")
  const read = readProfile(await readFile(file, "utf8"))
  return Result.mapError(read, (reason) => `The profile ${file} cannot be used: ${reason}.`)
}
