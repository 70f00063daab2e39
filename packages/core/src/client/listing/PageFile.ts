/**
 * A store of what lists showed of an account's pages, for the processes of one machine: a small file. Two lists that write it
 * at the same moment count as one.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Effect, Layer, Option, Predicate } from "effect"
import { makeOwnFolder, readText, replaceFile } from "../files/StateFiles.ts"
import { isPageMemory, type PageMemory } from "./PageMemory.ts"
import { PageStore } from "./PageStore.ts"

const version = 1

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A store in the file at `path`. Folders that are not there are made, for the user alone. */
export const make = (path: string): PageStore => {
  const folder = path.replace(/[\\/]*[^\\/]*$/, "") || "."
  // What a later Berth has written is left to it. Anything else that is not understood is as good as nothing.
  let isLater = false
  return {
    load: Effect.map(Effect.option(readText(path)), (text): PageMemory => {
      const held = parse(Option.getOrElse(Option.flatten(text), () => ""))
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

/** The client of one account keeps what lists showed in this file, beside its other clients. */
export const layer = (path: string): Layer.Layer<never> => Layer.succeed(PageStore, make(path))
