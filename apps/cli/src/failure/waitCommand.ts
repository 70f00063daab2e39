/**
 * The command that goes on waiting, at the end of a hint.
 */
import { quoted } from "../commandLine/quoted.ts"

/** What the wait is to have other than by default. */
interface WaitFlags {
  readonly goal?: string | undefined
  readonly timeoutMinutes?: number | undefined
}

/** For these arguments, each naming one node or, as a pattern, several. */
export const waitCommand = (given: ReadonlyArray<string>, { goal, timeoutMinutes }: WaitFlags): string => {
  const flags = [
    ...(goal === undefined ? [] : ["--for", goal]),
    ...(timeoutMinutes === undefined ? [] : ["--timeout", `${timeoutMinutes}m`])
  ]
  const nodes = given.map(quoted)
  const words = given.some((word) => word.startsWith("-")) ? [...flags, "--", ...nodes] : [...nodes, ...flags]
  return `To go on waiting: ${["berth node wait", ...words].join(" ")}`
}
