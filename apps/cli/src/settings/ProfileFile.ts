/**
 * The profile file in the user's configuration folder: accounts by name, and the current profile. It contains credentials, so only the user
 * may access it; it is replaced atomically, and refused if other users can read it.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { berthFolder } from "@berthkit/core/client/AccountFolder"
import {
  type FileFault,
  makeOwnFolder,
  readText,
  replaceDurably,
  withFiles
} from "@berthkit/core/client/files/StateFiles"
import { fileRemedyOf } from "@berthkit/core/domain/fileReason"
import { readSetting } from "@berthkit/terminal/readSetting"
import { Data, Effect, Option, Predicate, Redacted } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { placeOfFile } from "../files/givenFile.ts"
import { ensureWritable } from "../files/ownFiles.ts"
import { Output } from "../output/Output.ts"

/** The settings of an account. */
export interface ProfileValues {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
  /** The place of the nodes: project and location are set together, or neither. */
  readonly project?: number | undefined
  readonly location?: string | undefined
  /** The `User-Agent` of requests. */
  readonly userAgent?: string | undefined
  /** The address of the database with the state that several machines share. It may hold a password. */
  readonly stateUrl?: Redacted.Redacted | undefined
  /** Unknown fields of the file. */
  readonly further?: Further | undefined
}

/** Entries of another version or of the user, which are written back unchanged. */
type Further = Readonly<Record<string, unknown>>

export interface Profiles {
  /** The profile that is used if none is named. */
  readonly current: string | null
  readonly profiles: ReadonlyMap<string, ProfileValues>
  /** Unknown fields of the file. */
  readonly further?: Further | undefined
}

const noProfiles: Profiles = { current: null, profiles: new Map() }

const version = 1

/** An environment variable; undefined if unset or blank. */
export const readTrimmed = (name: string) => Effect.map(readSetting(name), (text) => text?.trim() || undefined)

/** The path of the profile file; none without a home folder. */
export const profilePath = Effect.option(
  Effect.map(berthFolder(readTrimmed, undefined, "config"), (folder) => `${folder}/profiles.json`)
)

const isText = Predicate.isString

/** A file written by a later version. */
class LaterVersion extends Data.Class<{ readonly version: number }> {}

/** Decodes the file; undefined if it is not a profile file. */
const decoded = (content: string): Profiles | LaterVersion | undefined => {
  const json = parseJson(content)
  if (!Predicate.isObject(json)) return undefined
  const { current, profiles: entries, version: written, ...further } = json
  if (Predicate.isNumber(written) && written > version) return new LaterVersion({ version: written })
  if (written !== version || !Predicate.isObject(entries)) return undefined
  const profiles = new Map<string, ProfileValues>()
  for (const [name, values] of Object.entries(entries)) {
    if (!Predicate.isObject(values)) return undefined
    const { accessToken, apiKey, baseUrl, location, project, stateUrl, userAgent, ...further } = values
    if (!isText(baseUrl) || !isText(apiKey) || !isText(accessToken)) return undefined
    if (!(userAgent === undefined || isText(userAgent))) return undefined
    if (!(stateUrl === undefined || isText(stateUrl))) return undefined
    if (!(project === undefined || Number.isSafeInteger(project)) || !(location === undefined || isText(location))) {
      return undefined
    }
    profiles.set(name, {
      baseUrl,
      apiKey: Redacted.make(apiKey),
      accessToken: Redacted.make(accessToken),
      project: project as number | undefined,
      location,
      userAgent,
      stateUrl: stateUrl === undefined ? undefined : Redacted.make(stateUrl),
      further
    })
  }
  return { current: isText(current) && profiles.has(current) ? current : null, profiles, further }
}

const encoded = ({ current, further, profiles }: Profiles): string => {
  const values = Array.from(
    profiles,
    ([name, { accessToken, apiKey, baseUrl, further, location, project, stateUrl, userAgent }]) => [
      name,
      {
        ...further,
        baseUrl,
        apiKey: Redacted.value(apiKey),
        accessToken: Redacted.value(accessToken),
        ...(project !== undefined && { project }),
        ...(location !== undefined && { location }),
        ...(userAgent !== undefined && { userAgent }),
        ...(stateUrl !== undefined && { stateUrl: Redacted.value(stateUrl) })
      }
    ]
  )
  return `${JSON.stringify({ ...further, version, current, profiles: Object.fromEntries(values) }, null, 2)}\n`
}

/** Mode bits that let other users read or write a file. */
const openToOthers = 0o077

/** The hint for working without a profile. */
const withoutProfile = "or use BERTH_BASE_URL, BERTH_API_KEY and BERTH_ACCESS_TOKEN."

const fault = (path: string, message: string, hint: string) => new LocalFileFault({ path, message, hint })

const unreadable = (path: string) => (error: FileFault) =>
  fault(
    path,
    `${path} cannot be read: ${fileReason(error)}.`,
    `Set XDG_CONFIG_HOME to another folder; ${withoutProfile}`
  )

/** Refuses a file that other users can read. Without modes, as on Windows, the folder protects it. */
const ensureOwn = Effect.fnUntraced(function* (path: string) {
  const mode = yield* Effect.mapError(
    withFiles(async (fs) => (await fs.stat(path)).mode),
    unreadable(path)
  )
  if ((mode & openToOthers) === 0 || globalThis.process?.platform === "win32") return
  return yield* fault(path, `${path} holds credentials, and other users can read it.`, `Run: chmod 600 '${path}'`)
})

/**
 * Reads the profiles; none if there is no file. Fails if the file cannot be read, is not a profile file, or is open to other users.
 */
export const readProfiles: Effect.Effect<Profiles, LocalFileFault> = Effect.gen(function* () {
  const path = yield* profilePath
  if (Option.isNone(path)) return noProfiles
  const content = yield* Effect.mapError(readText(path.value, undefined, true), unreadable(path.value))
  if (Option.isNone(content)) return noProfiles
  yield* ensureOwn(path.value)
  const profiles = decoded(content.value)
  if (profiles instanceof LaterVersion) {
    return yield* fault(
      path.value,
      `${path.value} was written by a later version of berth: it has version ${profiles.version}, and this one reads ${version}.`,
      `Update berth, or set XDG_CONFIG_HOME to another folder; ${withoutProfile}`
    )
  }
  if (profiles !== undefined) return profiles
  return yield* fault(
    path.value,
    `${path.value} is not a file of profiles.`,
    "Correct it, or move it away and run: berth auth login"
  )
})

const unwritable = (path: string) => (error: FileFault) => {
  const remedy = fileRemedyOf(error.code)
  const hint =
    remedy === undefined
      ? "Set XDG_CONFIG_HOME to a folder that can be written"
      : `${remedy}, or choose another folder with XDG_CONFIG_HOME`
  return fault(path, `${path} cannot be written: ${fileReason(error)}.`, `${hint}; ${withoutProfile}`)
}

/** The path to write to. Fails if there is none. */
const writablePath = Effect.gen(function* () {
  const path = yield* profilePath
  if (Option.isSome(path)) return yield* Effect.mapError(placeOfFile(path.value), unwritable(path.value))
  return yield* fault(
    "",
    "There is no folder for profiles: HOME is not set.",
    `Set HOME or XDG_CONFIG_HOME; ${withoutProfile}`
  )
})

/** Fails if the profiles cannot be written. Runs before the user types secrets. */
export const ensureProfilesWritable: Effect.Effect<void, LocalFileFault> = Effect.flatMap(writablePath, (path) =>
  Effect.mapError(ensureWritable(path), unwritable(path))
)

/** Replaces the profiles. */
export const writeProfiles = Effect.fnUntraced(function* (
  profiles: Profiles
): Effect.fn.Return<string, LocalFileFault, Output> {
  const path = yield* writablePath
  yield* Output.use(({ noteChange }) => noteChange)
  const folder = path.slice(0, path.lastIndexOf("/"))
  yield* Effect.andThen(makeOwnFolder(folder), replaceDurably(path, encoded(profiles))).pipe(
    Effect.mapError(unwritable(path))
  )
  return path
})
