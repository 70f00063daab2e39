/** Reports to the operator on stderr. Control characters are escaped, because strings may come from outside. */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Console, type Effect } from "effect"

/** Writes one line per text. */
export const report = (...lines: ReadonlyArray<string>): Effect.Effect<void> =>
  Console.error(lines.map(escapeControls).join("\n"))
