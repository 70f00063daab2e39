/**
 * `berth-server learn`: reads or collects evidence, reports what it shows, and writes or checks a profile. This module is
 * loaded on demand, because it loads the client, which the server does not need.
 */
import { dirname } from "node:path"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Console, Effect, FileSystem, Option, Result } from "effect"
import { type FileProblem, megabytes, readFlagFile, StartFailure, whyNot } from "@berthkit/terminal/StartFailure"
import { ServiceMoved } from "./outcomes.ts"
import { maxProfileBytes, type Profile } from "@berthkit/profile/Profile"
import { readProfileFile } from "@berthkit/profile/readProfileFile"
import { type Compared, compare } from "./check.ts"
import { pageOf, reportOf, tableOf } from "./report.ts"
import { probe } from "./probe.ts"
import { profileOf } from "./profileOf.ts"
import { type Evidence, maxEvidenceBytes, readEvidence } from "./readEvidence.ts"

export interface LearnOptions {
  readonly har: Option.Option<string>
  readonly probe: boolean
  readonly project: Option.Option<string>
  readonly location: Option.Option<string>
  readonly requests: number
  readonly withNode: boolean
  readonly maxCharge: Option.Option<number>
  readonly yes: boolean
  readonly output: "table" | "json"
  readonly html: Option.Option<string>
  readonly profile: Option.Option<string>
  readonly check: Option.Option<string>
}

const fail = (message: string) => Effect.fail(new StartFailure({ message }))

/** What is wrong with the combination of flags; undefined if nothing is. */
const contradiction = ({
  har,
  location,
  maxCharge,
  probe,
  project,
  withNode,
  yes
}: LearnOptions): string | undefined => {
  if (Option.isNone(har) && !probe) return "learn needs evidence: add --har FILE, or --probe to ask the service"
  if (Option.isSome(har) && probe) return "--har and --probe exclude each other: learn from one service at a time"
  if ((Option.isSome(project) || Option.isSome(location)) && !probe) return "--project and --location need --probe"
  if (withNode && !probe) return "--with-node needs --probe"
  if (withNode && Option.isNone(maxCharge))
    return "--with-node needs --max-charge, the maximum charge for the node in rupees"
  if (Option.isSome(maxCharge) && !withNode) return "--max-charge needs --with-node"
  return yes && !withNode ? "--yes needs --with-node" : undefined
}

const evidenceIn = Effect.fnUntraced(function* (file: string) {
  const read = readEvidence(yield* readFlagFile("--har", file, maxEvidenceBytes))
  return Result.isSuccess(read) ? read.success : yield* fail(`--har: cannot use ${file}: ${read.failure}`)
})

const askedOf = ({ location, maxCharge, project, requests, withNode, yes }: LearnOptions) =>
  probe({
    place: { project: Option.getOrUndefined(project), location: Option.getOrUndefined(location) },
    requests,
    node: withNode ? { isAgreed: yes, maxChargeInr: Option.getOrElse(maxCharge, () => 0) } : undefined
  })

const cannotWrite = (flag: string, file: string) => (error: FileProblem) =>
  new StartFailure({
    message: `${flag}: cannot write ${file}: ${error.reason._tag === "NotFound" ? "there is no such folder" : whyNot(error)}`
  })

const writeFile = (flag: string, file: string, text: string) =>
  Effect.mapError(
    FileSystem.FileSystem.use((fs) => fs.writeFileString(file, text)),
    cannotWrite(flag, file)
  )

/** Fails if the file of a result could not be written. It runs before a probe costs requests or money. */
const ensureWritable = Effect.fnUntraced(function* (flag: string, file: Option.Option<string>) {
  if (Option.isNone(file)) return
  const fs = yield* FileSystem.FileSystem
  const cannot = cannotWrite(flag, file.value)
  const there = yield* Effect.option(fs.stat(file.value))
  if (Option.exists(there, ({ type }) => type === "Directory"))
    return yield* cannot({ reason: { _tag: "BadResource" } })
  const path = Option.isSome(there) ? file.value : dirname(file.value)
  yield* Effect.mapError(fs.access(path, { writable: true }), cannot)
})

const print = (text: string) => Console.log(escapeLines(text))

/** Escapes control characters, so that the service's strings cannot move the cursor. */
const escapeLines = (text: string): string => text.trimEnd().split("\n").map(escapeControls).join("\n")

const printCheck = Effect.fnUntraced(function* (
  file: string,
  { count, differences }: Compared,
  output: "table" | "json"
) {
  if (count === 0)
    return yield* fail(`--check: ${file} and the evidence have nothing in common, so nothing was compared`)
  if (output === "json") yield* Console.log(JSON.stringify({ compared: count, differences }, null, 2))
  else if (differences.length === 0) yield* print(`The service behaves as ${file} says: ${count} things compared.`)
  else
    yield* print(
      differences.map(({ before, now, what }) => `${what}\n  before: ${before}\n  now:    ${now}`).join("\n")
    )
  if (differences.length === 0) return
  const things = differences.length === 1 ? "one difference" : `${differences.length} differences`
  return yield* new ServiceMoved({
    message: `the service has changed since ${file} was learned: ${things} in ${count} things compared`
  })
})

export const learn = Effect.fnUntraced(function* (options: LearnOptions) {
  const wrong = contradiction(options)
  if (wrong !== undefined) return yield* fail(wrong)
  // Read the profile before a probe sends anything, so that a bad file costs nothing.
  const before: Profile | undefined = Option.isSome(options.check)
    ? yield* readProfileFile("--check", options.check.value, maxProfileBytes)
    : undefined
  yield* ensureWritable("--profile", options.profile)
  yield* ensureWritable("--html", options.html)
  const evidence: Evidence = Option.isSome(options.har) ? yield* evidenceIn(options.har.value) : yield* askedOf(options)
  const { count: unanswered, failing, why } = evidence.unanswered ?? { count: 0, failing: [], why: "" }
  if (unanswered > 0)
    yield* Console.error(
      `berth-server: not everything was learned: ${unanswered === 1 ? "one request" : `${unanswered} requests`} had no usable reply: ${escapeControls(evidence.redact(why))}`
    )
  const profile = profileOf(evidence)
  const report = reportOf(evidence, profile)
  if (Option.isSome(options.profile)) {
    const text = `${JSON.stringify(profile, null, 1)}\n`
    if (Buffer.byteLength(text) > maxProfileBytes) {
      return yield* fail(
        `--profile: ${megabytes(Buffer.byteLength(text))} MB; at most ${megabytes(maxProfileBytes)} MB are read: learn from less evidence`
      )
    }
    yield* writeFile("--profile", options.profile.value, text)
  }
  if (Option.isSome(options.html)) yield* writeFile("--html", options.html.value, pageOf(report))
  if (before !== undefined && Option.isSome(options.check)) {
    const compared = compare(before, profile)
    // If a read fails now, nobody knows whether its reply has changed, unless the read also failed when the profile was
    // made.
    const asBefore = failing.filter((read) => before.behaviour.failing?.includes(read)).length
    if (unanswered > asBefore && compared.differences.length === 0) {
      return yield* fail("--check: requests without a usable reply are not compared: try again")
    }
    return yield* printCheck(options.check.value, compared, options.output)
  }
  yield* options.output === "json" ? Console.log(JSON.stringify(report, null, 2)) : print(tableOf(report))
})
