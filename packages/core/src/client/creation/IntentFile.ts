/**
 * Reads the file of an intent: JSON with the record and the process that wrote it. Every field is checked, because another process wrote
 * it. One reader is asynchronous, the other synchronous.
 */
import { Effect, Option, Predicate } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import { FileFault, readText } from "../files/StateFiles.ts"
import { builtin } from "../options/builtin.ts"
import { type Instant, type Intent, intentVersion, type Told } from "./IntentStore.ts"
import type { Self } from "./KeyLock.ts"

/** An intent, and the process that wrote it. */
export interface OwnedIntent extends Intent {
  readonly owner: Self
}

/** A check of each field. */
type Checks<A> = { readonly [Name in keyof A]-?: (value: unknown) => boolean }

/** Whether every known field of a value is valid. Other fields are ignored. */
const meets = <A>(checks: Checks<A>, value: unknown): value is A =>
  Predicate.isObject(value) &&
  Object.entries<(value: unknown) => boolean>(checks).every(([name, check]) =>
    check((value as Readonly<Record<string, unknown>>)[name])
  )

const orNull = (check: (value: unknown) => boolean) => (value: unknown) => value === null || check(value)

const instantChecks: Checks<Instant> = {
  wallMillis: Number.isFinite,
  bootMillis: Number.isFinite,
  bootClock: orNull(Predicate.isString),
  serviceMillis: Number.isFinite
}

const isNodeId = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1

const areNodeIds = (value: unknown) => value === undefined || (Array.isArray(value) && value.every(isNodeId))

const toldChecks: Checks<Told> = { id: isNodeId, difference: Predicate.isString, others: areNodeIds }

const ownerChecks: Checks<OwnedIntent["owner"]> = {
  machine: Predicate.isString,
  namespace: Predicate.isString,
  pid: Number.isSafeInteger,
  startTime: Predicate.isString
}

const checks: Checks<OwnedIntent> = {
  version: (value) => value === intentVersion,
  key: Predicate.isString,
  name: Predicate.isString,
  plan: Predicate.isString,
  image: Predicate.isString,
  spec: orNull(Predicate.isString),
  newerThan: Number.isSafeInteger,
  newest: (value) => value === undefined || Number.isSafeInteger(value),
  sentAt: orNull((value) => meets(instantChecks, value)),
  fate: (value) => value === "open" || value === "refused" || value === "lost" || value === "reported",
  nodeId: orNull(isNodeId),
  told: (value) => value === undefined || meets(toldChecks, value),
  seen: areNodeIds,
  owner: (value) => meets(ownerChecks, value)
}

/** Parses the text of a file or row as an intent; otherwise returns why it is not an intent of Berth. */
export const parseIntent = (text: string): OwnedIntent | string => {
  const value = parseJson(text)
  if (value === undefined) return "is damaged, or not Berth's"
  if (!Predicate.isObject(value)) return "is not Berth's"
  if (typeof value["version"] === "number" && value["version"] > intentVersion) return "is of a later version of Berth"
  return meets(checks, value) ? value : "is damaged, or not Berth's"
}

/** The intent in a file; undefined if there is no file. Fails if the file is not an intent of Berth. */
export const readIntent = Effect.fnUntraced(function* (
  file: string,
  key: string
): Effect.fn.Return<OwnedIntent | undefined, FileFault> {
  const text = yield* readText(file)
  if (Option.isNone(text)) return undefined
  const intent = parseIntent(text.value)
  if (typeof intent === "string") return yield* new FileFault({ message: `${file} ${intent}`, path: file })
  // On some file systems two keys that differ only in case are the same file.
  if (intent.key !== key) {
    return yield* new FileFault({ message: `${file} belongs to the key ${intent.key}`, path: file })
  }
  return intent
})

/**
 * Reads an intent synchronously, because the caller reads many small files in a row. If the file is not an intent, returns a string that
 * says why; undefined if there is no file.
 */
export const readIntentNow = (file: string): OwnedIntent | string | undefined => {
  const fs = builtin("node:fs")!
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants
  try {
    const descriptor = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      return parseIntent(fs.readFileSync(descriptor, "utf8"))
    } finally {
      fs.closeSync(descriptor)
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : String(error)
  }
}
