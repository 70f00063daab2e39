/**
 * The values that completions offer, as they were read last: a file in the user's cache folder for each account. Only ever offered, and
 * safe to lose. Read at once and without Effect, because a key press waits for it.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { variables } from "@berthkit/terminal/variables"
import type { Candidate, DynamicKind } from "./complete.ts"

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What is kept. */
export interface CachedValues {
  readonly writtenMillis: number
  readonly values: Readonly<Partial<Record<DynamicKind, ReadonlyArray<Candidate>>>>
}

/** Older values are offered, and read anew behind the scenes. */
export const maxAgeMillis = 5 * 60_000

const home = (env: Environment, variable: string, below: string): string | undefined => {
  const named = env[variable]
  if (named?.startsWith("/") === true) return `${named}/berth`
  const folder = env["HOME"] ?? env["USERPROFILE"]
  return folder === undefined || folder === "" ? undefined : `${folder}/${below}/berth`
}

const textOf = (path: string | undefined): string => {
  if (path === undefined) return ""
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const below = (kind: "config" | "cache") => {
  if (process.platform === "darwin") return kind === "config" ? "Library/Application Support" : "Library/Caches"
  if (process.platform === "win32") return kind === "config" ? "AppData/Roaming" : "AppData/Local"
  return `.${kind}`
}

const profileText = (env: Environment): string => {
  const folder = home(env, "XDG_CONFIG_HOME", below("config"))
  return textOf(folder && `${folder}/profiles.json`)
}

/** The names of the profiles. */
export const profileNames = (env: Environment): ReadonlyArray<Candidate> => {
  try {
    const { profiles } = JSON.parse(profileText(env)) as {
      readonly profiles: Readonly<Record<string, { readonly baseUrl: unknown }>>
    }
    return Object.entries(profiles).map(([value, { baseUrl }]) => ({
      value,
      description: typeof baseUrl === "string" ? baseUrl : ""
    }))
  } catch {
    return []
  }
}

/** The variables that may decide which account it is. */
export const accountVariables: ReadonlyArray<string> = [
  variables.profile,
  variables.baseUrl,
  variables.apiKey,
  variables.project,
  variables.location
]

/** What a command line says of the account, by its global flags. */
export interface AccountFlags {
  readonly profile?: string | undefined
  readonly project?: string | undefined
  readonly location?: string | undefined
  /** Decides no account, but the service may refuse requests without it. */
  readonly userAgent?: string | undefined
}

/** The file of an account: named by all that may decide which one it is, so that no account sees another's names. */
export const cachePath = (env: Environment, { location, profile, project }: AccountFlags): string | undefined => {
  const folder = home(env, "XDG_CACHE_HOME", below("cache"))
  if (folder === undefined) return undefined
  const deciding = accountVariables.map((name) => env[name] ?? null)
  // Not by `import`: help and the version would wait for it.
  const { createHash } = process.getBuiltinModule("node:crypto")
  const hash = createHash("sha256").update(
    JSON.stringify([[profile, project, location].map((flag) => flag ?? null), ...deciding, profileText(env)])
  )
  return `${folder}/completions/${hash.digest("hex").slice(0, 32)}.json`
}

const isCandidate = (each: unknown): boolean => {
  const { description, value } = each as Partial<Candidate>
  return typeof value === "string" && typeof description === "string"
}

/** What is kept in a file; undefined where it is not what was written: a key press shows no stack trace. */
export const readCache = (path: string | undefined): CachedValues | undefined => {
  try {
    const found = JSON.parse(textOf(path)) as CachedValues
    const isSound =
      typeof found.writtenMillis === "number" && Object.values(found.values).every((each) => each.every(isCandidate))
    return isSound ? found : undefined
  } catch {
    return undefined
  }
}

/** Keeps values; where that is not possible, the next completion reads them again. */
export const writeCache = (path: string | undefined, values: CachedValues): void => {
  if (path === undefined) return
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 })
    try {
      writeFileSync(draft, JSON.stringify(values), { mode: 0o600 })
      renameSync(draft, path)
    } catch {
      // The disk was full before the end.
      rmSync(draft, { force: true })
    }
  } catch {
    // A folder that cannot be written.
  }
}
