/**
 * Caches the values that completions offer: one file per account in the user's cache folder. The values are only suggestions, so the
 * cache is safe to lose. It is read synchronously and without Effect, because the user waits for it after pressing Tab.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { type FolderKind, folderVariables, userFolder } from "@berthkit/core/client/files/userFolder"
import { variables } from "@berthkit/terminal/variables"
import type { Candidate, DynamicKind } from "./complete.ts"

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The content of the cache. */
export interface CachedValues {
  readonly writtenMillis: number
  readonly values: Readonly<Partial<Record<DynamicKind, ReadonlyArray<Candidate>>>>
}

/** Older values are still offered, and are read again in the background. */
export const maxAgeMillis = 5 * 60_000

const folderIn = (env: Environment, kind: FolderKind, platform: string): string | undefined =>
  userFolder(
    kind,
    platform,
    folderVariables(kind, platform).map((name) => env[name] || undefined)
  )

const textOf = (path: string | undefined): string => {
  if (path === undefined) return ""
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

const profileText = (env: Environment, platform: string): string => {
  const folder = folderIn(env, "config", platform)
  return textOf(folder && `${folder}/profiles.json`)
}

/** The names of the profiles. */
export const profileNames = (env: Environment, platform: string = process.platform): ReadonlyArray<Candidate> => {
  try {
    const { profiles } = JSON.parse(profileText(env, platform)) as {
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

/** The variables that may determine the account. */
export const accountVariables: ReadonlyArray<string> = [
  variables.profile,
  variables.baseUrl,
  variables.apiKey,
  variables.project,
  variables.location
]

/** The global flags that determine the account. */
export interface AccountFlags {
  readonly profile?: string | undefined
  readonly project?: string | undefined
  readonly location?: string | undefined
  /** The user agent does not determine the account, but the service may refuse requests without it. */
  readonly userAgent?: string | undefined
}

/**
 * The cache file of an account. Its name depends on everything that may determine the account, so that no account sees the names of
 * another.
 */
export const cachePath = (
  env: Environment,
  { location, profile, project }: AccountFlags,
  platform: string = process.platform
): string | undefined => {
  const folder = folderIn(env, "cache", platform)
  if (folder === undefined) return undefined
  const deciding = accountVariables.map((name) => env[name] ?? null)
  // Do not import this at the top, because help and the version would wait for it.
  const { createHash } = process.getBuiltinModule("node:crypto")
  const hash = createHash("sha256").update(
    JSON.stringify([[profile, project, location].map((flag) => flag ?? null), ...deciding, profileText(env, platform)])
  )
  return `${folder}/completions/${hash.digest("hex").slice(0, 32)}.json`
}

const isCandidate = (each: unknown): boolean => {
  const { description, value } = each as Partial<Candidate>
  return typeof value === "string" && typeof description === "string"
}

/** Reads a cache file; undefined if its content is invalid, because a completion must not print a stack trace. */
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

/** Writes the values; if that fails, the next completion reads them again. */
export const writeCache = (path: string | undefined, values: CachedValues): void => {
  if (path === undefined) return
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 })
    try {
      writeFileSync(draft, JSON.stringify(values), { mode: 0o600 })
      renameSync(draft, path)
    } catch {
      // Remove the incomplete file of a full disk.
      rmSync(draft, { force: true })
    }
  } catch {
    // If the folder cannot be written, there is no cache.
  }
}
