/**
 * Refuses a runtime that is too old before anything is sent: some calls would work there, but others would fail after a change.
 */
import { Data, Result } from "effect"

/** The client runs on a Node version that is too old. */
export class RuntimeTooOld extends Data.TaggedError("RuntimeTooOld")<{
  /** The version of Node, such as `20.20.2`. */
  readonly version: string
}> {
  override get message() {
    return `The client needs Node 22.19 or newer; this is Node ${this.version}.`
  }
}

/** The runtime's own version names. Bun and Deno report a Node version, too. */
type Versions = Readonly<Record<string, string | undefined>>

/** Fails with `RuntimeTooOld` on Node older than 22.19. */
export const checkRuntime = (
  versions: Versions | undefined = globalThis.process?.versions
): Result.Result<void, RuntimeTooOld> => {
  const version = versions?.["node"]
  if (version === undefined || versions?.["bun"] !== undefined || versions?.["deno"] !== undefined) return Result.void
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < 22 || (major === 22 && minor < 19) ? Result.fail(new RuntimeTooOld({ version })) : Result.void
}
