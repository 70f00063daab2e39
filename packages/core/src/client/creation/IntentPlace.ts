/**
 * Finds the folder with the intents of an account. Each API key has its own folder, and so has each name that the user
 * gives an account. A mark in such a folder leads to the folder of the account, so a new key continues where the old
 * one stopped. A folder without a mark is the account's own.
 *
 * ```
 * accounts/
 *   PLACE-1/account.json     the mark of an old key: {"account": "NAME"}
 *   PLACE-2/account.json     the mark of the key of today: {"account": "NAME"}
 *   NAME/creates/            the intents of the account, whichever key is used
 *   NAME/records/            what else Berth keeps about the account (`RecordFolder.ts`)
 *   NAME/joining/PLACE-2     a join from PLACE-2 that is under way, or was cut off
 * ```
 *
 * `PLACE` is a hash of an API key with project and location, and `NAME` one of the account's name with both. A mark may
 * lead to a folder with another mark, up to `maxMarks` times, if an account was joined more than once.
 *
 * A client whose account has a name joins the folder of its key when it first opens the account; a login with a new key
 * joins the folder of the old one (`goOnIn`). If both folders have a record or a settled intent under the same key, the
 * one in the account's folder stays. A record that cannot be moved is left behind, so that it does not block a create.
 *
 * A join moves one folder into the account's folder. It has four steps, so that it can be restarted at any point: write
 * a note in `joining`, write the mark, move what is left in the old folder, remove the note.
 */
import { Effect, Option, Predicate } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import {
  FileFault,
  makeOwnFolder,
  readText,
  removeFile,
  replaceDurably,
  unlessMissing,
  withFiles
} from "../files/StateFiles.ts"
import { takeOver } from "./SettledIntents.ts"

/** The place of an account's intents. */
export interface IntentPlace {
  /** The folder of all accounts. */
  readonly accounts: string
  /** The canonical address of the service, with project and location. An account belongs to exactly one such place. */
  readonly origin: string
  /** The account's folder, unless a mark leads to another one. */
  readonly id: string
  /** The folder of the API key, if the account has a name. */
  readonly key: string | undefined
}

/** Maximum number of marks that are followed, one after the other. */
const maxMarks = 16

const isId = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{32}$/.test(text)

/** The kind of file at a path, without following a link. */
const kindOf = (path: string) =>
  Effect.map(unlessMissing(withFiles((fs) => fs.lstat(path))), (about) =>
    about === undefined ? "nothing" : about.isDirectory() ? "folder" : "other"
  )

const creates = (accounts: string, id: string) => `${accounts}/${id}/creates`
const markFile = (accounts: string, id: string) => `${accounts}/${id}/account.json`

/**
 * Fails if an earlier version has written its mark in the folder. This version does not read that mark, and would send a create again
 * under a new key.
 */
const ensureNoEarlierMark = Effect.fnUntraced(function* (accounts: string, id: string) {
  const path = `${accounts}/${id}/intents`
  if ((yield* kindOf(path)) === "nothing") return
  const message = `${path} was written by an earlier version of berth; remove it, and name the account again`
  return yield* new FileFault({ message, path })
})

const idIn = (text: string): string | undefined => {
  const mark = parseJson(text)
  return Predicate.isObject(mark) && isId(mark["account"]) ? mark["account"] : undefined
}

/** The folder to which the mark in a folder leads; the folder itself without a mark. */
const followed = Effect.fnUntraced(function* (accounts: string, id: string): Effect.fn.Return<string, FileFault> {
  const path = markFile(accounts, id)
  const text = yield* readText(path)
  if (Option.isNone(text)) return yield* Effect.as(ensureNoEarlierMark(accounts, id), id)
  return idIn(text.value) ?? (yield* new FileFault({ message: `${path} is damaged, or not Berth's`, path }))
})

/** The folders on the way from this folder to the folder of its account, which is the last. */
const chainOf = Effect.fnUntraced(function* (
  accounts: string,
  id: string
): Effect.fn.Return<readonly [string, ...Array<string>], FileFault> {
  const chain: [string, ...Array<string>] = [id]
  while (chain.length <= maxMarks) {
    const next = yield* followed(accounts, chain.at(-1)!)
    if (next === chain.at(-1)) return chain
    chain.push(next)
  }
  const path = markFile(accounts, id)
  return yield* new FileFault({ message: `${path} is a link that leads back to itself; remove it`, path })
})

const note = "Berth keeps the creates of this account in the folder `creates` of the account that is named here."

const writeMark = (accounts: string, id: string, account: string) =>
  Effect.andThen(
    makeOwnFolder(`${accounts}/${id}`, 2),
    replaceDurably(markFile(accounts, id), `${JSON.stringify({ version: 1, account, note })}\n`)
  )

const last = (chain: readonly [string, ...Array<string>]): string => chain.at(-1)!

/** The ids under which this machine knows the account: the ids of its keys and names, including earlier ones. */
export const idsOf = Effect.fnUntraced(function* ({
  accounts,
  id,
  key
}: IntentPlace): Effect.fn.Return<ReadonlySet<string>, FileFault> {
  const rootOf = (one: string) => Effect.map(chainOf(accounts, one), last)
  const roots = new Set([yield* rootOf(id), ...(key === undefined ? [] : [yield* rootOf(key)])])
  const known = (yield* withFiles((fs) => fs.readdir(accounts))).filter(isId)
  const own = yield* Effect.filter(known, (one) =>
    Effect.orElseSucceed(
      Effect.map(rootOf(one), (root) => roots.has(root)),
      () => false
    )
  )
  return new Set([id, ...roots, ...own])
})

const recordsIn = (accounts: string, id: string) => `${accounts}/${id}/records`

/**
 * The present folder of the account's records: the account's own folder, or the folder of its key if the two are not joined yet and only
 * the key's folder has records.
 */
export const folderOf = Effect.fnUntraced(function* ({
  accounts,
  id,
  key
}: IntentPlace): Effect.fn.Return<string, FileFault> {
  const own = last(yield* chainOf(accounts, id))
  if (key === undefined || (yield* kindOf(recordsIn(accounts, own))) !== "nothing") return `${accounts}/${own}`
  const ofKey = last(yield* chainOf(accounts, key))
  return `${accounts}/${(yield* kindOf(recordsIn(accounts, ofKey))) === "nothing" ? own : ofKey}`
})

/**
 * Moves each record, unless the account already has a record under the same key. A failure is ignored, because records must not block a
 * create.
 */
const carryRecords = Effect.fnUntraced(
  function* (from: string, into: string) {
    if ((yield* kindOf(from)) !== "folder") return
    for (const kind of (yield* withFiles((fs) => fs.readdir(from))).filter((name) => /^[a-z-]+$/.test(name))) {
      yield* makeOwnFolder(`${into}/${kind}`, 4)
      for (const name of yield* withFiles((fs) => fs.readdir(`${from}/${kind}`))) {
        const target = `${into}/${kind}/${name}`
        if (!name.endsWith(".json") || (yield* kindOf(target)) !== "nothing") continue
        yield* withFiles((fs) => fs.rename(`${from}/${kind}/${name}`, target))
      }
    }
  },
  (carrying) => Effect.ignore(carrying)
)

/**
 * Follows the marks, moves all files on the way into the account's folder, and returns that folder. Files remain on the
 * way if a process was killed, or if a running process wrote them after the mark.
 */
const collect = Effect.fnUntraced(function* (accounts: string, id: string) {
  const chain = yield* chainOf(accounts, id)
  const root = last(chain)
  for (const before of chain.slice(0, -1)) {
    yield* takeOver(creates(accounts, before), creates(accounts, root))
    yield* carryRecords(recordsIn(accounts, before), recordsIn(accounts, root))
  }
  return root
})

/** The folder that lists joins under way. The next process that opens the account finishes an interrupted join. */
const joiningIn = (accounts: string, id: string) => `${accounts}/${id}/joining`

/** Finishes joins into an account's folder that are interrupted or running in another process. */
const finishJoins = Effect.fnUntraced(function* (accounts: string, root: string) {
  const folder = joiningIn(accounts, root)
  const isThere = (yield* kindOf(folder)) === "folder"
  for (const from of isThere ? (yield* withFiles((fs) => fs.readdir(folder))).filter(isId) : []) {
    // A join whose mark is not written yet has nothing to finish.
    if ((yield* collect(accounts, from)) === root) yield* removeFile(`${folder}/${from}`)
  }
})

/** Joins two folders into the account of `into`. Can be restarted at any point. */
const join = Effect.fnUntraced(function* (accounts: string, from: string, into: string) {
  const [root, target] = [last(yield* chainOf(accounts, from)), last(yield* chainOf(accounts, into))]
  if (root !== target) {
    yield* makeOwnFolder(joiningIn(accounts, target), 3)
    yield* replaceDurably(`${joiningIn(accounts, target)}/${root}`, "")
    // The mark is written first: processes that open the folder later go to the target, and move what is still here.
    yield* writeMark(accounts, root, target)
  }
  yield* finishJoins(accounts, yield* collect(accounts, from))
})

/** Finds the account's folder and moves into it what belongs to the account. Returns the folder of its creates. */
export const settleIn = Effect.fnUntraced(function* ({ accounts, id, key }: IntentPlace) {
  yield* makeOwnFolder(`${accounts}/${id}`, 2)
  if (key !== undefined) yield* join(accounts, key, id)
  const root = yield* collect(accounts, id)
  yield* finishJoins(accounts, root)
  return creates(accounts, root)
})

/**
 * Continues the account of `from` in `into`, for example after its key was replaced. Returns false if the services differ, the two are one
 * account, or `into` has no folder.
 */
export const goOnIn = Effect.fnUntraced(function* (
  from: IntentPlace,
  into: IntentPlace
): Effect.fn.Return<boolean, FileFault> {
  if (from.accounts !== into.accounts || from.origin !== into.origin || from.id === into.id) return false
  if ((yield* kindOf(`${into.accounts}/${into.id}`)) !== "folder") return false
  yield* settleIn(into)
  yield* join(from.accounts, from.id, into.id)
  return true
})
