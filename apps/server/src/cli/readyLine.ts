/**
 * The line on stdout by which a starter learns where the server is. Where it cannot be written, as on a full disk, the starter would wait
 * for it for ever, so that is a failure.
 */
import { Effect } from "effect"

/** Fails with the code of the system, such as `ENOSPC`. */
export const printReadyLine = (line: string): Effect.Effect<void, string> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) => resume(Effect.fail(error.code ?? error.message))
    // Emitted beside the callback; without a listener it would end the process.
    process.stdout.on("error", fail)
    process.stdout.write(`${line}\n`, (error) => (error ? fail(error) : resume(Effect.void)))
  })
