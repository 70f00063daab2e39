/**
 * Keeps the intents whose nodes are known. They are apart from the open intents, because a create that looks for its
 * node need not read them. Each period of 30 days has a folder with a file per key and a file per node, so both are
 * found without reading the rest. The highest node id is marked separately. Intents are kept for 90 to 120 days after
 * they were last asked for; each new one removes a few old ones.
 *
 * ```
 * creates/
 *   open/KEY.json            an intent whose node is not known yet
 *   settled/689/KEY.json     a settled intent, in the folder of its 30 days since 1970
 *   settled/689/97898.node   the key of the create that made node 97898
 *   settled/689.x7f2/        imported from another account's folder, and processed
 *   settled/import.x7f2/     imported, and not processed yet: its open intents go back to open/
 *   newest/97898/            the highest id of a node, as the name of an empty folder
 * ```
 *
 * | event | what changes |
 * |---|---|
 * | the node of a create becomes known | `newest`, then the file by node, then the file by key: a process that no longer finds the create open must find its node |
 * | a settled key is asked for again | a copy in the folder of today; the older copy stays, and searches take the newest |
 * | another account's folder is joined | its folders are renamed to imports, because a rename cannot be cut off half-way |
 * | an import is processed | its open intents move to `open`, and it gets the name of a period |
 * | a search finds that a folder was renamed in the meantime | it begins again |
 */
import { Clock, Effect, Option, Random } from "effect"
import type { NodeId } from "../../domain/Node.ts"
import {
  FileFault,
  makePrivateFolder,
  readText,
  removeFile,
  replaceDurably,
  unlessMissing,
  withFiles
} from "../files/StateFiles.ts"
import { builtin } from "../options/builtin.ts"
import { type OwnedIntent, readIntent, readIntentNow } from "./IntentFile.ts"
import { keptMillis } from "./IntentStore.ts"

const dayMillis = 86_400_000

/** A folder has the intents that were settled, or asked for again, in this many days. */
const periodMillis = 30 * dayMillis

/** Maximum number of files that one create removes. It is several times the number that a create adds. */
const maxRemoved = 64

/** How many files of an imported folder are read before other work may run. */
const filesPerTurn = 200

/** An imported folder whose unsettled intents have not been moved out yet. */
const importPrefix = "import."

const periodOf = (millis: number) => Math.floor(millis / periodMillis)

/** The period of a folder; undefined for an imported one that was not processed. */
const periodIn = (name: string): number | undefined => {
  const [period] = /^\d+(?=$|\.)/.exec(name) ?? []
  return period === undefined ? undefined : Number(period)
}

const nodeFile = (id: NodeId | number) => `${id}.node`
const intentFile = (key: string) => `${key}.json`
const keyIn = (name: string) => (name.endsWith(".json") ? name.slice(0, -".json".length) : undefined)

const drawnSuffix = Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (drawn) => drawn.toString(36))

/** The names in a folder; none if the folder does not exist. */
const namesIn = (folder: string) =>
  Effect.map(unlessMissing(withFiles((fs) => fs.readdir(folder))), (names = []) => names)

/** Moves a folder, if it exists. */
const moveFolder = (from: string, to: string) => unlessMissing(withFiles((fs) => fs.rename(from, to)))

/** Moves a file, unless another process was faster. */
const moveNow = (from: string, to: string) => {
  const fs = builtin("node:fs")!
  try {
    // An existing file under the same key wins.
    if (!fs.existsSync(to)) fs.renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

/** The folder of settled intents in an intent store. */
const settledIn = (directory: string) => `${directory}/settled`

/** The account's own folders come first, and unprocessed imports last: under one key, the intent of the account stays. */
const rankOf = (name: string): number => (periodIn(name) === undefined ? 2 : name.includes(".") ? 1 : 0)

/**
 * The folders of settled intents, by rank, then newest first. The order of the file system does not matter, so a key always finds the same
 * intent.
 */
const foldersIn = (settled: string) =>
  Effect.map(namesIn(settled), (names) =>
    names
      .filter((name) => periodIn(name) !== undefined || name.startsWith(importPrefix))
      .toSorted((a, b) => rankOf(a) - rankOf(b) || (periodIn(b) ?? 0) - (periodIn(a) ?? 0) || (a < b ? -1 : 1))
  )

/** Contains an empty folder named after the highest node id. Two processes that settle at once cannot overwrite each other's folder. */
const newestIn = (directory: string) => `${directory}/newest`

const highest = (ids: ReadonlyArray<number>) => ids.reduce((a, b) => Math.max(a, b), 0)

const marksIn = (directory: string) =>
  Effect.map(namesIn(newestIn(directory)), (names) => names.filter((name) => /^\d+$/.test(name)).map(Number))

/** The highest node id; 0 without one. */
const newestNode = (directory: string) => Effect.map(marksIn(directory), highest)

/** Marks the id of a node unless a higher one is marked; then removes lower marks. */
const markNode = Effect.fnUntraced(function* (directory: string, id: number) {
  const marks = yield* marksIn(directory)
  const newest = Math.max(highest(marks), id)
  if (!marks.includes(newest)) yield* makePrivateFolder(`${newestIn(directory)}/${newest}`)
  for (const lower of marks.filter((mark) => mark < newest)) {
    yield* unlessMissing(withFiles((fs) => fs.rmdir(`${newestIn(directory)}/${lower}`)))
  }
})

/** The settled intents of a store in a folder; the first write creates what it needs. Open intents go to `open`. */
export const make = (directory: string, open: string) => {
  const settled = settledIn(directory)
  const folders = foldersIn(settled)

  const write = Effect.fnUntraced(function* (intent: OwnedIntent & { readonly nodeId: NodeId }, period: number) {
    const folder = `${settled}/${period}`
    yield* makePrivateFolder(folder)
    yield* markNode(directory, intent.nodeId)
    // Record the node first: a process that no longer finds this create open must find whose node it is.
    yield* replaceDurably(`${folder}/${nodeFile(intent.nodeId)}`, intent.key)
    yield* replaceDurably(`${folder}/${intentFile(intent.key)}`, JSON.stringify(intent))
  })

  /** Removes some records that are too old on every available clock, because a single clock may step. */
  const prune = Effect.fnUntraced(
    function* (nowMillis: number) {
      for (const name of yield* folders) {
        const period = periodIn(name)
        if (period === undefined || (period + 1) * periodMillis + keptMillis > nowMillis) continue
        yield* withFiles(async (fs) => {
          const folder = `${settled}/${name}`
          let left = maxRemoved
          for await (const entry of await fs.opendir(folder)) {
            if (left-- === 0) return
            await fs.rm(`${folder}/${entry.name}`, { recursive: true, force: true })
          }
          await fs.rmdir(folder)
        })
        return
      }
    },
    (removal) => Effect.ignore(removal)
  )

  /**
   * Moves the unsettled intents out of an imported folder. The move can be restarted at any point, and two processes
   * can run it at once: a file is always in one of the two folders, and `find` reads this one first.
   */
  const goThrough = Effect.fnUntraced(function* (name: string) {
    const folder = `${settled}/${name}`
    const nodes: Array<readonly [node: NodeId, key: string]> = []
    const names = yield* namesIn(folder)
    for (let i = 0; i < names.length; i += filesPerTurn) {
      yield* Effect.try({
        try: () => {
          for (const each of names.slice(i, i + filesPerTurn)) {
            const file = `${folder}/${each}`
            const key = keyIn(each)
            const intent = key === undefined ? undefined : readIntentNow(file)
            if (intent === undefined || typeof intent === "string") continue
            if (intent.nodeId !== null) nodes.push([intent.nodeId, intent.key])
            else moveNow(file, `${open}/${each}`)
          }
        },
        catch: FileFault.of
      })
      yield* Effect.yieldNow
    }
    // Only a create that was sent before a node was made can claim the node. Read the open intents now, when all of them are in `open`.
    let oldestMark = Number.MAX_SAFE_INTEGER
    for (const each of yield* namesIn(open)) {
      const intent = keyIn(each) === undefined ? undefined : readIntentNow(`${open}/${each}`)
      if (typeof intent === "object" && intent.nodeId === null) oldestMark = Math.min(oldestMark, intent.newerThan)
    }
    for (const [node, key] of nodes) {
      if (node > oldestMark) yield* replaceDurably(`${folder}/${nodeFile(node)}`, key)
    }
    if (nodes.length > 0) yield* markNode(directory, highest(nodes.map(([node]) => node)))
    const period = periodOf(yield* Clock.currentTimeMillis)
    // A unique name, because an earlier import may have had the same one.
    yield* moveFolder(folder, `${settled}/${period}.${yield* drawnSuffix}`)
  }, unlessMissing) // Another process was faster and has done everything.

  /** Searches the folders, and repeats if one was renamed in the meantime. */
  const search = Effect.fnUntraced(function* <A>(among: (names: ReadonlyArray<string>) => Effect.Effect<A, FileFault>) {
    let names = yield* folders
    while (true) {
      const found = yield* among(names)
      const now = yield* folders
      if (now.join() === names.join()) return found
      names = now
    }
  })

  return {
    /** The intent of a key: a settled one, or otherwise one in an unprocessed import. */
    find: (key: string) =>
      search(
        Effect.fnUntraced(function* (names) {
          let unsettled: OwnedIntent | undefined
          for (const name of names) {
            const intent = yield* readIntent(`${settled}/${name}/${intentFile(key)}`, key)
            if (intent !== undefined && intent.nodeId !== null) return { intent, period: periodIn(name) ?? 0 }
            unsettled ??= intent
          }
          return unsettled && { intent: unsettled, period: 0 }
        })
      ),

    /** Keeps a settled intent for longer, because a call has asked for it. */
    renew: Effect.fnUntraced(function* (intent: OwnedIntent & { readonly nodeId: NodeId }, period: number) {
      const now = periodOf(yield* Clock.currentTimeMillis)
      if (period < now) yield* write(intent, now)
    }),

    /** Stores an intent whose node is now known. */
    settle: Effect.fnUntraced(function* (intent: OwnedIntent & { readonly nodeId: NodeId }) {
      const wallMillis = yield* Clock.currentTimeMillis
      const serviceMillis = intent.sentAt?.serviceMillis ?? 0
      yield* write(intent, periodOf(Math.max(wallMillis, serviceMillis)))
      yield* prune(Math.min(wallMillis, serviceMillis))
    }),

    /** Removes the intents of an unsettled key from imported folders. */
    remove: Effect.fnUntraced(function* (key: string) {
      for (const name of yield* folders) {
        if (periodIn(name) === undefined || name.includes(".")) {
          yield* removeFile(`${settled}/${name}/${intentFile(key)}`)
        }
      }
    }),

    /** The keys of the settled creates that made these nodes. */
    ownersOf: (ids: ReadonlyArray<NodeId>) =>
      search(
        Effect.fnUntraced(function* (names) {
          const owners = new Map<NodeId, string>()
          for (const name of names) {
            for (const id of ids) {
              const key = yield* readText(`${settled}/${name}/${nodeFile(id)}`)
              if (Option.isSome(key) && !owners.has(id)) owners.set(id, key.value)
            }
          }
          return owners
        })
      ),

    /** The highest node id; 0 without one. */
    newestNode: newestNode(directory),

    /** Processes the folders that this process or a killed one has imported. */
    sortOut: Effect.gen(function* () {
      for (const name of yield* folders) if (name.startsWith(importPrefix)) yield* goThrough(name)
    })
  }
}

/** Imports the intents of another account's folder step by step. The open ones go first, because nothing is written there afterwards. */
export const takeOver = Effect.fnUntraced(function* (from: string, into: string) {
  const names = yield* namesIn(settledIn(from))
  const suffix = yield* drawnSuffix
  yield* makePrivateFolder(settledIn(into))
  const newest = yield* newestNode(from)
  if (newest > 0) yield* markNode(into, newest)
  yield* moveFolder(`${from}/open`, `${settledIn(into)}/${importPrefix}${suffix}`)
  for (const [i, name] of names.entries()) {
    const kind = periodIn(name) ?? "import"
    yield* moveFolder(`${settledIn(from)}/${name}`, `${settledIn(into)}/${kind}.${suffix}${i}`)
  }
})
