/**
 * The files of `--start-script`.
 */
import { type FileFault, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect } from "effect"
import { UsageFault } from "../../failure/CliFailure.ts"
import { fileReason } from "../../failure/fileReason.ts"

const fault = (name: string) => (why: FileFault) =>
  new UsageFault({
    message: `--start-script cannot be ${name}: ${why.code === "ENOENT" ? "there is no such file" : fileReason(why)}.`,
    hint: "See berth node create --help."
  })

/** What is in each of them. */
export const readStartScripts = (given: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, UsageFault> =>
  Effect.forEach(given, (name) =>
    Effect.mapError(
      withFiles(async (fs) => {
        if (!(await fs.stat(name)).isFile()) throw { message: "it is not a file" } satisfies FileFault
        return fs.readFile(name, "utf8")
      }),
      fault(name)
    )
  )
