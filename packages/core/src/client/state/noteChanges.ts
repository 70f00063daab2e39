/**
 * Writes the log of changes: who requested which change of which node, when, with which program, and the outcome. A
 * change is recorded before it is sent. If its program is then killed, the log shows the change as `unknown`. A failure
 * to write the log stops no change. This module loads no schemas, because the promise client loads it with the files.
 */
import { Effect, FiberSet, Option, type Scope } from "effect"
import type { BerthError } from "../../domain/BerthError.ts"
import { builtin } from "../options/builtin.ts"
import type { ReadVariable } from "../options/readVariable.ts"
import { ChangedBy, ChangedFor } from "./ChangedBy.ts"
import type { Change } from "./Change.ts"
import type { ChangeLog, End } from "./ChangeLog.ts"
import { nodeOfPath } from "./nodeOfPath.ts"
import type { RecordStore, StateFailed } from "./RecordStore.ts"

/** The kind of the records of the log. */
export const changeKind = "change"

/** At most this many changes are kept; the oldest are dropped. */
const maxKept = 2000

/** What a record has of a change. The store adds the time, as a part of the key. */
export type Noted = Omit<Change, "at">

/** The text of a record. `Change.ts` reads it. */
export const writeChange = (change: Noted): string => JSON.stringify({ version: 1, ...change })

/** Variables of CI systems with the name and number of a job. */
const jobVariables = [
  ["GITHUB_REPOSITORY", "GITHUB_RUN_ID"],
  ["CI_PROJECT_PATH", "CI_JOB_ID"],
  ["BUILDKITE_PIPELINE_SLUG", "BUILDKITE_BUILD_NUMBER"],
  ["CIRCLE_PROJECT_REPONAME", "CIRCLE_BUILD_NUM"],
  ["JOB_NAME", "BUILD_NUMBER"]
] as const

const jobOf = Effect.fnUntraced(function* (read: ReadVariable) {
  for (const [what, number] of jobVariables) {
    const job = [yield* read(what), yield* read(number)]
    if (job.every((part) => part !== undefined)) return job.join(" ")
  }
  return null
})

/** The name of the process's user; null if the system has no name for it, as in some containers. */
const userName = (): string | null => {
  try {
    return builtin("node:os")?.userInfo().username ?? null
  } catch {
    return null
  }
}

const endOfFailure = ({ message, reason }: BerthError): End => ({
  outcome: reason.mayBeProcessed ? "unknown" : "failed",
  why: message
})

const reads: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

const unwritten = ({ detail }: StateFailed): string =>
  `The log of changes cannot be written (${detail}), so it does not contain what is changed now.`

/**
 * The log in a store. Outcomes are written in the background, because a program that is stopped during such a write
 * should still get the reply. The scope waits for all these writes when it closes. If a change cannot be recorded,
 * `warn` is called once. Default: no warning, because an unwritable folder causes its own error where it matters.
 */
export const noteChanges = Effect.fnUntraced(function* (
  store: RecordStore,
  read: ReadVariable,
  warn: (text: string) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<ChangeLog, never, Scope.Scope> {
  const writes = yield* FiberSet.make()
  yield* Effect.addFinalizer(() => FiberSet.awaitEmpty(writes))

  let isWarned = false
  /** Warns once, because a program may send hundreds of changes. */
  const warnOnce = (failure: StateFailed) =>
    Effect.suspend(() => {
      if (isWarned) return Effect.void
      isWarned = true
      return warn(unwritten(failure))
    })

  const noted: ChangeLog["noted"] = (asked, call, endOf) =>
    Effect.gen(function* () {
      const change: Noted = {
        node: null,
        name: null,
        asked: "",
        ...asked,
        outcome: "unknown",
        why: null,
        command: yield* ChangedBy,
        ...(yield* ChangedFor),
        user: userName(),
        host: builtin("node:os")?.hostname() ?? "",
        job: yield* jobOf(read)
      }
      // Do not interrupt the write, because it would leave a half-written file.
      const key = yield* Effect.uninterruptible(
        Effect.option(Effect.tapError(store.append(changeKind, writeChange(change), maxKept), warnOnce))
      )
      const ended = (end: End) =>
        Option.isNone(key)
          ? Effect.void
          : FiberSet.run(
              writes,
              Effect.uninterruptible(
                Effect.ignore(store.put(changeKind, key.value, writeChange({ ...change, ...end })))
              )
            )
      return yield* call.pipe(
        Effect.tap((done) => ended(endOf(done))),
        Effect.tapError((failure) => ended(endOfFailure(failure)))
      )
    })

  return {
    noted,
    requested: ({ method, path }, call) => {
      if (reads.has(method)) return call
      const node = nodeOfPath(path) ?? null
      const action = method === "DELETE" && node !== null ? "delete" : "request"
      return noted({ action, node, asked: `${method} ${path}` }, call, () => ({ outcome: "sent" }))
    }
  }
})
