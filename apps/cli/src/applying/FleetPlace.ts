/**
 * Finds the fleet file and, next to it, the ledger, which records the nodes that belong to the fleet. Reads the fleet file.
 */
import { createHash } from "node:crypto"
import { dirname, resolve } from "node:path"
import { FileFault, withFiles } from "@berthkit/core/client/files/StateFiles"
import type { ConfigProblem } from "@berthkit/terminal/ConfigFile"
import { Effect, Result } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { flag, text } from "../commandLine/Parameter.ts"
import { LocalFileFault, UsageFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { problemOf } from "../failure/Problem.ts"
import { notEmpty, readFileText } from "../files/givenFile.ts"
import { sshKeyOf } from "../proposal/sshKey.ts"
import { type Group, readFleet } from "../fleet/FleetFile.ts"
import type { LoadedFleet, LoadedGroup } from "../fleet/Change.ts"
import { realLedger } from "./LedgerFile.ts"
import { reportProblem } from "../output/reportProblem.ts"

/** The default fleet file of every command. */
const defaultFile = "fleet.yaml"

export const fileFlag = flag(
  "file",
  text("FILE", (given) => given !== ""),
  `The fleet file; default ${defaultFile}`,
  "f"
)

export interface FleetPlace {
  /** The path as the user typed it. */
  readonly file: string
  /** The real path of the ledger. */
  readonly ledger: string
  /** The flag that names the file, for hints; empty for the default. */
  readonly flag: string
}

export const placeOf = (given = defaultFile): Effect.Effect<FleetPlace, LocalFileFault> =>
  Effect.map(realLedger(given.replace(/\.(?:ya?ml|json)$/i, "") + ".ledger.json"), (ledger) => ({
    file: given,
    ledger,
    flag: given === defaultFile ? "" : ` -f ${quoted(given)}`
  }))

/** Why a file cannot be read. A file that is too large is not a fleet file. */
const unreadable = (file: string) => (fault: FileFault) =>
  fault.message.includes("is too large")
    ? new UsageFault({
        message: `${file} is too large: a fleet file has at most 1 MiB.`,
        hint: "berth schema fleet describes the format of the file."
      })
    : new LocalFileFault({
        path: file,
        message: `${file} cannot be read: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`,
        hint:
          fault.code === "ENOENT"
            ? "Name the fleet file with -f; berth schema fleet describes its format."
            : "Correct that, or name another file with -f."
      })

const problemFault = (file: string, { column, line, message }: ConfigProblem) =>
  new UsageFault({
    message: `${file}:${line}:${column}: ${message}`,
    hint: "berth schema fleet describes the format of the file."
  })

/** Prints every problem of a file; the command fails with the last one. */
const failWith = Effect.fnUntraced(function* (file: string, problems: ReadonlyArray<ConfigProblem>) {
  const faults = problems.map((problem) => problemFault(file, problem))
  for (const fault of faults.slice(0, -1)) yield* reportProblem({ ...problemOf(fault), hint: "" })
  return yield* faults.at(-1) ?? new UsageFault({ message: `${file} cannot be used.`, hint: "" })
})

/** Reads a fleet file. Refuses a pipe, because there is no folder next to it for the ledger. */
const readSource = (path: string) =>
  Effect.flatMap(
    withFiles((fs) => fs.stat(path)),
    (about) => (about.isFile() ? readFileText(path) : Effect.fail(new FileFault({ message: `${path} is not a file` })))
  )

/** Reads the start scripts of a group, and computes their digests. */
const readScripts = (place: FleetPlace, paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, (path) =>
    Effect.mapError(
      notEmpty(readFileText(resolve(dirname(place.file), path))),
      (fault) =>
        new UsageFault({
          message: `The start script ${path} cannot be read: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`,
          hint: `Correct its path in ${place.file}: it is relative to that file.`
        })
    )
  )

/** The SSH keys of a group in the form that Berth sends. */
const readSshKeys = (place: FleetPlace, { group, order }: Group) =>
  order.sshKeys === undefined
    ? Effect.succeed({})
    : Effect.map(
        Effect.forEach(order.sshKeys, (word) => sshKeyOf(`nodes.${group}.sshKeys`, word, dirname(place.file))),
        (sshKeys) => ({ sshKeys })
      )

/** A fleet with the contents of its start scripts, which only a create needs. */
export interface ReadFleet extends LoadedFleet {
  readonly scriptsOf: ReadonlyMap<string, ReadonlyArray<string>>
}

/** Reads the fleet file, and the scripts and keys that it names. */
export const readFleetFile = Effect.fnUntraced(function* (place: FleetPlace) {
  const source = yield* Effect.mapError(readSource(place.file), unreadable(place.file))
  const read = readFleet(source)
  if (Result.isFailure(read)) return yield* failWith(place.file, read.failure)
  const scriptsOf = new Map<string, ReadonlyArray<string>>()
  const groups: Array<LoadedGroup> = []
  for (const group of read.success.groups) {
    const scripts = yield* readScripts(place, group.startScripts)
    scriptsOf.set(group.group, scripts)
    const digests = scripts.map((script) => createHash("sha256").update(script).digest("hex").slice(0, 16))
    const sshKeys = yield* readSshKeys(place, group)
    groups.push({ ...group, order: { ...group.order, ...sshKeys }, scripts: digests })
  }
  return { ...read.success, groups, scriptsOf } satisfies ReadFleet
})
