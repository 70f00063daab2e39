/**
 * Answers requests that need neither the service nor Effect: the version, help, and completions with cached values. These must be fast,
 * because a person waits. If something is missing, `cli.ts` gives the same answer.
 */
import { readFileSync } from "node:fs"
import type { Writable } from "node:stream"
import pkg from "../package.json" with { type: "json" }
import type { CommandHelp } from "./commandLine/CommandHelp.ts"
import { helpOfGroup } from "./commandLine/helpOf.ts"
import { isNoun } from "./commandLine/CommandTree.ts"
import { helpText } from "@berthkit/terminal/helpText"
import { rawFlags } from "./commandLine/words.ts"
import { readRequest } from "./commandLine/Request.ts"
import { tree } from "./commands/tree.ts"
import { complete, completionLines, joined } from "./completion/complete.ts"
import {
  type AccountFlags,
  cachePath,
  type Environment,
  maxAgeMillis,
  profileNames,
  readCache
} from "./completion/CompletionCache.ts"
import { coloursOf } from "./output/printText.ts"

/** The process's inputs for a quick answer. */
export interface QuickProcess {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly env: Environment
  /** Starts a refresh of the completion values without waiting for it. */
  readonly refresh: (account: AccountFlags) => void
  readonly nowMillis: number
}

type Descriptions = Readonly<Record<string, CommandHelp>>

/** The descriptions of all commands, which are part of the bundle; undefined if berth is not bundled. */
const descriptions = (): Descriptions | undefined => {
  try {
    return JSON.parse(readFileSync(new URL("commands.json", import.meta.url), "utf8")) as Descriptions
  } catch {
    return undefined
  }
}

const quickHelp = (args: ReadonlyArray<string>, { env, stdout }: QuickProcess): string | undefined => {
  const request = readRequest(tree, args)
  if (request._tag !== "Version" && request._tag !== "Help") return undefined
  const { color, output } = rawFlags(args)
  const hasColours = coloursOf(stdout, { color, env, output })
  // In other formats, help and errors are data, which `cli.ts` prints.
  if (hasColours === undefined) return undefined
  if (request._tag === "Version") return `berth ${pkg.version}\n`
  const { entry, path } = request.place
  const description = entry === undefined || isNoun(entry) ? helpOfGroup(tree, entry) : descriptions()?.[path.join(" ")]
  return description && helpText(description, hasColours)
}

const quickCompletion = (
  [, shell = "", , ...words]: ReadonlyArray<string>,
  { env, nowMillis, refresh }: QuickProcess
): string | undefined => {
  const described = descriptions()
  if (described === undefined) return undefined
  const line = joined(words)
  const completion = complete(tree, (path) => described[path], line)
  if (completion.dynamic === undefined) return completionLines(completion, [], shell)
  if (completion.dynamic === "profiles") return completionLines(completion, profileNames(env), shell)
  const account = rawFlags(line)
  const cached = readCache(cachePath(env, account))
  if (cached === undefined) return undefined
  if (Math.abs(nowMillis - cached.writtenMillis) > maxAgeMillis) refresh(account)
  return completionLines(completion, cached.values[completion.dynamic] ?? [], shell)
}

/** The answer, or undefined if `cli.ts` has to give it. */
export const quickAnswer = (args: ReadonlyArray<string>, process: QuickProcess): string | undefined =>
  args[0] === "__complete" ? quickCompletion(args, process) : quickHelp(args, process)
