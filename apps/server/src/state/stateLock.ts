/**
 * Keeps a state file to one server. The lock is that of the system on an empty file beside it, held by SQLite, which Node has built in: it
 * ends with its process, however that ends, so that nothing has to be judged or cleared away. The file stays.
 */
import { closeSync, constants, openSync } from "node:fs"
import { loadSqlite } from "@berthkit/sql-sqlite/loadSqlite"
import { Effect } from "effect"

/** Makes the lock's file for its user alone. SQLite would make it for all, and through a link. */
const makeFile = (path: string): void => {
  const { O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants
  closeSync(openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600))
}

const lock = (path: string) => {
  makeFile(path)
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Held until the end, and nothing is ever written in it.
    database.exec("BEGIN IMMEDIATE")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const busy = 5

const reasonOf = (path: string, error: unknown): string => {
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number }
  if (errcode === busy) return "another server keeps its worlds in it"
  if (errcode !== undefined) return `${path} is no lock: ${message}`
  if (code === "ELOOP") return `${path} is a link`
  if (code === "ENOENT") return "there is no such directory"
  return code === "EACCES" || code === "EPERM" || code === "EROFS" ? "it may not be accessed" : (code ?? message)
}

/** Holds the lock of a state file for as long as the scope lasts; fails with the reason where another server does. */
export const holdStateLock = (file: string) => {
  const path = `${file}.lock`
  return Effect.acquireRelease(
    Effect.try({ try: () => lock(path), catch: (error) => reasonOf(path, error) }),
    (database) => Effect.sync(() => database.close())
  )
}
