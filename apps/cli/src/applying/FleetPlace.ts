/**
 * Where the files of a fleet are: the fleet file and the ledger beside it; and what the fleet file says.
 */
import { createHash } from "node:crypto"
import { dirname, resolve } from "node:path"
import { type FileFault, readText } from "@berthkit/core/client/files/StateFiles"
import type { ConfigProblem } from "@berthkit/terminal/ConfigFile"
import { Effect, Option, Result } from "effect"
import { flag, text } from "../commandLine/Parameter.ts"
import { quoted } from "../commandLine/commandToType.ts"
import { LocalFileFault, UsageFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { problemOf } from "../failure/Problem.ts"
import { readFleet } from "../fleet/FleetFile.ts"
import type { LoadedFleet, LoadedGroup } from "../fleet/plan.ts"
import { reportProblem } from "../output/reportProblem.ts"

/** The fleet file that a command takes where none is given. */
const defaultFile = "fleet.yaml"

export const fileFlag = flag(
  "file",
  text("FILE", (given) => given !== ""),
  `The fleet file; default ${defaultFile}`,
  "f"
)

export interface FleetPlace {
  /** As the user gave it. */
  readonly file: string
  readonly ledger: string
  /** The flag that names the file, for hints; empty for the default. */
  readonly flag: string
}

export const placeOf = (given = defaultFile): FleetPlace => ({
  file: given,
  ledger: resolve(given.replace(/\.(?:ya?ml|json)$/i, "") + ".ledger.json"),
  flag: given === defaultFile ? "" : ` -f ${quoted(given)}`
})

/** A file that cannot be read. */
const unreadable = (file: string) => (fault: FileFault) =>
  new LocalFileFault({
    path: file,
    message: `${file} cannot be read: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`,
    hint:
      fault.code === "ENOENT"
        ? "Name the fleet file with -f; berth schema fleet says what it may hold."
        : "Put that right, or name another file with -f."
  })

const problemFault = (file: string, { column, line, message }: ConfigProblem) =>
  new UsageFault({
    message: `${file}:${line}:${column}: ${message}`,
    hint: "berth schema fleet says what the file may hold."
  })

/** Reports all problems of a file; the last one is what the command fails with. */
const failWith = Effect.fnUntraced(function* (file: string, problems: ReadonlyArray<ConfigProblem>) {
  const faults = problems.map((problem) => problemFault(file, problem))
  for (const fault of faults.slice(0, -1)) yield* reportProblem({ ...problemOf(fault), hint: "" })
  return yield* faults.at(-1) ?? new UsageFault({ message: `${file} cannot be used.`, hint: "" })
})

/** More than a person writes. */
const maxBytes = 1024 * 1024

const readFile = (path: string) =>
  Effect.flatMap(
    readText(path, maxBytes, true),
    Option.match({ onNone: () => Effect.fail<FileFault>({ code: "ENOENT", message: "" }), onSome: Effect.succeed })
  )

/** The start scripts of a group, and their digests. */
const readScripts = (place: FleetPlace, paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, (path) =>
    Effect.mapError(
      readFile(resolve(dirname(place.file), path)),
      (fault) =>
        new UsageFault({
          message: `The start script ${path} cannot be read: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`,
          hint: `Correct its path in ${place.file}: it is relative to that file.`
        })
    )
  )

/** A fleet with the texts of its start scripts, which only a create needs. */
export interface ReadFleet extends LoadedFleet {
  readonly scriptsOf: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Reads the fleet file and what it refers to. */
export const readFleetFile = Effect.fnUntraced(function* (place: FleetPlace) {
  const source = yield* Effect.mapError(readFile(place.file), unreadable(place.file))
  const read = readFleet(source)
  if (Result.isFailure(read)) return yield* failWith(place.file, read.failure)
  const scriptsOf = new Map<string, ReadonlyArray<string>>()
  const groups: Array<LoadedGroup> = []
  for (const group of read.success.groups) {
    const scripts = yield* readScripts(place, group.startScripts)
    scriptsOf.set(group.group, scripts)
    const digests = scripts.map((script) => createHash("sha256").update(script).digest("hex").slice(0, 16))
    groups.push({ ...group, scripts: digests })
  }
  return { ...read.success, groups, scriptsOf } satisfies ReadFleet
})
