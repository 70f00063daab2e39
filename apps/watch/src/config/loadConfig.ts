/** Loads the config from a file, with the secrets that it refers to. */
import { Data, Effect } from "effect"
import { readFileSync, statSync } from "node:fs"
import type { Surroundings, WatchConfig } from "./Config.ts"
import { readConfig } from "./readConfig.ts"
import type { ConfigProblem } from "@berthkit/terminal/ConfigFile"

/** The new config cannot be used, so the current one stays. */
export class ConfigRefused extends Data.TaggedError("ConfigRefused")<{
  /** One line per problem, with its place. */
  readonly lines: ReadonlyArray<string>
}> {}

const toLine = (path: string, { column, line, message }: ConfigProblem) => `${path}:${line}:${column}: ${message}`

/** Larger than any secret. */
const maxSecretBytes = 64 * 1024

/**
 * Access to the files and variables that a config, or an account in the PostgreSQL table, refers to. It reads only regular
 * files, because reading a pipe or a device may never end and would block the whole process.
 */
export const surroundings: Omit<Surroundings, "path"> = {
  variable: (name) => process.env[name],
  file: (path) => {
    const found = statSync(path)
    if (!found.isFile() || found.size > maxSecretBytes) throw new Error("not a file with a secret")
    return readFileSync(path, "utf8")
  }
}

/** Reads the config in a file. */
export const loadConfig = Effect.fn("loadConfig")(function* (
  path: string
): Effect.fn.Return<WatchConfig, ConfigRefused> {
  const text = yield* Effect.try({
    try: () => readFileSync(path, "utf8"),
    catch: (error) => {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
      return new ConfigRefused({ lines: [`${path} cannot be read (${code}).`] })
    }
  })
  const templates = /\b(template|subject)\b/.test(text)
    ? yield* Effect.promise(() => import("../deliver/template/compileTemplate.ts"))
    : {}
  return yield* Effect.mapError(
    Effect.fromResult(readConfig(text, { path, ...surroundings, ...templates })),
    (problems) => new ConfigRefused({ lines: problems.map((problem) => toLine(path, problem)) })
  )
})
