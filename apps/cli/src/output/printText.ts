/** Prints text for people without loading Effect: the version, help, and completions. */
import { exitCode } from "@berthkit/terminal/exitCode"
import { outputFault } from "../failure/outputFault.ts"
import { surfaceOf, type TerminalStream } from "./Surface.ts"

/** The flags and variables that decide how text looks. */
interface Settings {
  readonly color?: string | undefined
  readonly output?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Whether text on this stream has colours; undefined if the user wants data instead of text. */
export const coloursOf = (
  stdout: Pick<TerminalStream, "isTTY" | "columns">,
  { color, env, output = env["BERTH_OUTPUT"] ?? "table" }: Settings
): boolean | undefined => {
  if (output !== "table") return undefined
  return surfaceOf(stdout, { color, noColor: env["NO_COLOR"], forceColor: env["FORCE_COLOR"], term: env["TERM"] })
    .colour
}

/** Prints to stdout. A reader that has gone is no error. */
export const printText = (text: string): void => {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") return
    const { hint, message } = outputFault(error)
    process.stderr.write(`error: ${message}\nhint: ${hint}\n`)
    process.exitCode = exitCode.localFile
  })
  process.stdout.write(text)
}
