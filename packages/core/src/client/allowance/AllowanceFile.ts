/**
 * A store of the allowance for the processes of one machine: a small file for what they know, and beside it a folder with a
 * file for each of them. A process that is killed is forgotten when its file has not been touched for a while.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Clock, Effect, Option, Random } from "effect"
import { makeFolders } from "../makeFolders.ts"
import { type AllowanceStore, AllowanceStoreFailed, isSharedAllowance } from "./AllowanceStore.ts"

/** Why something of the file system could not be done. */
interface FileFault {
  readonly code?: string | undefined
  readonly message: string
}

const tryFile = <A>(run: () => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.tryPromise({ try: run, catch: (error) => error as FileFault })

const orFailed = Effect.mapError(({ message }: FileFault) => new AllowanceStoreFailed({ detail: message }))

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A place at the file at `path`. Folders that are not there are made, for the user alone. */
export const make = Effect.fnUntraced(function* (path: string): Effect.fn.Return<AllowanceStore> {
  const me = `${globalThis.process?.pid ?? 0}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`
  const draft = `${mine}.new`

  const loaded = yield* Effect.cached(
    Effect.mapError(
      tryFile(() => import("node:fs/promises")),
      (): FileFault => ({ message: "there is no node:fs here" })
    )
  )
  const files = <A>(use: (fs: Effect.Success<typeof loaded>) => Promise<A>) =>
    Effect.flatMap(loaded, (fs) => tryFile(() => use(fs)))
  const makeMembers = makeFolders(
    members,
    (folder) => files((fs) => fs.mkdir(folder, { mode: 0o700 })),
    ({ code }) => code
  )
  const forget = (name: string) => Effect.ignore(files((fs) => fs.rm(`${members}/${name}`, { force: true })))

  return {
    name: path,
    now: Clock.currentTimeMillis,
    read: Effect.gen(function* () {
      const text = yield* Effect.option(files((fs) => fs.readFile(path, "utf8")))
      if (Option.isNone(text)) return Option.none()
      const shared = parse(text.value)
      return isSharedAllowance(shared)
        ? Option.some(shared)
        : yield* new AllowanceStoreFailed({ detail: "it is damaged" })
    }),
    write: Effect.fnUntraced(function* (shared) {
      const there = yield* Effect.option(files((fs) => fs.lstat(path)))
      // What is in its place may be a device, or lead to a file of somebody else.
      if (Option.isSome(there) && !there.value.isFile())
        return yield* Effect.fail<FileFault>({ message: "it is not a file" })
      yield* files((fs) => fs.writeFile(draft, JSON.stringify(shared), { mode: 0o600 }))
      yield* files((fs) => fs.rename(draft, path))
    }, orFailed),
    meet: Effect.fnUntraced(function* (withinMillis) {
      const now = yield* Clock.currentTimeMillis
      const show = files((fs) => fs.writeFile(mine, String(now), { mode: 0o600 }))
      // Most often the folder is there.
      yield* Effect.catch(show, (fault) =>
        fault.code === "ENOENT" ? Effect.andThen(makeMembers, show) : Effect.fail(fault)
      )
      const names = new Set(yield* files((fs) => fs.readdir(members)))
      let count = 0
      let before = 0
      for (const name of names) {
        const owner = name.replace(/\.new$/, "")
        if (owner === me) continue
        if (owner !== name) {
          if (!names.has(owner)) yield* forget(name)
          continue
        }
        const seenAt = yield* Effect.option(files((fs) => fs.readFile(`${members}/${name}`, "utf8")))
        // One from the future is of a clock that was set back meanwhile.
        if (Math.abs(now - Number(Option.getOrElse(seenAt, () => "0"))) < withinMillis) {
          count++
          if (name < me) before++
        } else yield* forget(name)
      }
      return { count, before }
    }, orFailed),
    leave: forget(me)
  }
})
