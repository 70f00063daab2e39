/**
 * The runtime that a client is made on: one that is too old is refused before anything is sent, because some calls would work there, and
 * others fail after they had changed something.
 */
import { Data, Result } from "effect"

/** The client runs on a Node that is too old for it. */
export class RuntimeTooOld extends Data.TaggedError("RuntimeTooOld")<{
  /** Of Node, such as `20.20.2`. */
  readonly version: string
}> {
  override get message() {
    return `The client needs Node 22.19 or newer; this is Node ${this.version}.`
  }
}

/** What a runtime names its own versions by. Bun and Deno state a version of Node, too. */
type Versions = Readonly<Record<string, string | undefined>>

/** Fails with `RuntimeTooOld` on a Node that is older than 22.19. */
export const checkRuntime = (
  versions: Versions | undefined = globalThis.process?.versions
): Result.Result<void, RuntimeTooOld> => {
  const version = versions?.["node"]
  if (version === undefined || versions?.["bun"] !== undefined || versions?.["deno"] !== undefined) return Result.void
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < 22 || (major === 22 && minor < 19) ? Result.fail(new RuntimeTooOld({ version })) : Result.void
}
