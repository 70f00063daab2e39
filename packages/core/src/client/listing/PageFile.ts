/**
 * A store of what lists showed of an account's pages, for the processes of one machine: a small file. Two lists that write it
 * at the same moment count as one.
 *
 * Needs `node:fs`, which is loaded on first use.
 */
import { Effect, Layer, Option, Predicate } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import { makeOwnFolder, readText, replaceFile } from "../files/StateFiles.ts"
import { isPageMemory, type PageMemory } from "./PageMemory.ts"
import { PageStore } from "./PageStore.ts"

const version = 1

/** A store in the file at `path`. Makes missing folders, for the user alone. */
export const make = (path: string): PageStore => {
  const folder = path.replace(/[\\/]*[^\\/]*$/, "") || "."
  // A file of a later Berth is not touched. Anything else that cannot be read counts as empty.
  let isLater = false
  return {
    load: Effect.map(Effect.option(readText(path)), (text): PageMemory => {
      const held = parseJson(Option.getOrElse(Option.flatten(text), () => ""))
      if (!Predicate.isObject(held)) return {}
      isLater = Number(held["version"]) > version
      return held["version"] === version && isPageMemory(held["pages"]) ? held["pages"] : {}
    }),
    save: (pages) =>
      Effect.suspend(() =>
        isLater
          ? Effect.succeed(false)
          : Effect.isSuccess(
              Effect.andThen(makeOwnFolder(folder), replaceFile(path, JSON.stringify({ version, pages })))
            )
      )
  }
}

/** Clients of one account share what lists showed through this file. */
export const layer = (path: string): Layer.Layer<never> => Layer.succeed(PageStore, make(path))
