/** Checks that the runtime is one that the client works on, before anything is sent. */
import { RuntimeTooOld } from "./Failure.ts"

/** What a runtime names its own versions by. Bun and Deno state a version of Node, too. */
type Versions = Readonly<Record<string, string | undefined>>

/** Throws `RuntimeTooOld`. */
export const checkRuntime = (
  operation: string,
  versions: Versions | undefined = globalThis.process?.versions
): void => {
  const version = versions?.["node"]
  if (version === undefined || versions?.["bun"] !== undefined || versions?.["deno"] !== undefined) return
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major < 22 || (major === 22 && minor < 19)) throw new RuntimeTooOld(operation, version)
}
