/** Loads the profile that a test names by its file. */
import { readFile } from "node:fs/promises"
import { Result } from "effect"
import type { Profile } from "@berthkit/profile/Profile"

/** The profile in a file, or a sentence that says what is wrong with it. Rejects if the file cannot be read. */
export const profileIn = async (file: string): Promise<Result.Result<Profile, string>> => {
  // Load the schema on demand, so that tests without a profile need not wait for it.
  const { readProfile } = await import("@berthkit/profile/Profile")
  const read = readProfile(await readFile(file, "utf8"))
  return Result.mapError(read, (reason) => `Cannot use the profile ${file}: ${reason}.`)
}
