/**
 * Reports to the operator of the process, on stderr, with text from outside made safe.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Console, type Effect } from "effect"

/** Writes one line for each text. */
export const report = (...lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error(lines.map(escapeControls).join("\n"))
