/**
 * A store of the allowance for the processes of one machine: a small file for what they know, and beside it a folder with a
 * file for each of them. A process that is killed is forgotten when its file has not been touched for a while.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Clock, Effect, Option, Random, Schema } from "effect"
import { type AllowanceStore, AllowanceStoreFailed, SharedAllowance } from "./AllowanceStore.ts"

const Json = Schema.fromJsonString(SharedAllowance)
const decode = Schema.decodeUnknownEffect(Json)
const encode = Schema.encodeEffect(Json)

const failed = (detail: string) => () => new AllowanceStoreFailed({ detail })

/** A place at the file at `path`. Its folder is made if it is not there. */
export const make = Effect.fnUntraced(function* (path: string): Effect.fn.Return<AllowanceStore> {
  const me = `${globalThis.process?.pid ?? 0}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`

  const files = yield* Effect.cached(
    Effect.tryPromise({
      try: async () => {
        const fs = await import("node:fs/promises")
        await fs.mkdir(members, { recursive: true, mode: 0o700 })
        return fs
      },
      catch: failed("cannot be made")
    })
  )
  type Files = Effect.Success<typeof files>
  const using = <A>(detail: string, use: (fs: Files) => Promise<A>) =>
    Effect.flatMap(files, (fs) => Effect.tryPromise({ try: () => use(fs), catch: failed(detail) }))

  /** When another client was seen last; 0 when it is gone. */
  const seenAt = (name: string) =>
    Effect.map(
      Effect.option(using("cannot be read", (fs) => fs.readFile(`${members}/${name}`, "utf8"))),
      Option.match({ onNone: () => 0, onSome: Number })
    )
  const forget = (name: string) =>
    Effect.ignore(using("cannot be written", (fs) => fs.rm(`${members}/${name}`, { force: true })))

  return {
    now: Clock.currentTimeMillis,
    read: Effect.gen(function* () {
      const text = yield* Effect.option(using("cannot be read", (fs) => fs.readFile(path, "utf8")))
      if (Option.isNone(text)) return Option.none()
      return Option.some(yield* Effect.mapError(decode(text.value), failed("is damaged and is replaced")))
    }),
    write: (shared) =>
      Effect.flatMap(Effect.orDie(encode(shared)), (text) =>
        using("cannot be written", async (fs) => {
          await fs.writeFile(`${mine}.new`, text, { mode: 0o600 })
          await fs.rename(`${mine}.new`, path)
        })
      ),
    meet: Effect.fnUntraced(function* (withinMillis) {
      const now = yield* Clock.currentTimeMillis
      yield* using("cannot be written", (fs) => fs.writeFile(mine, String(now), { mode: 0o600 }))
      let others = 0
      for (const name of yield* using("cannot be read", (fs) => fs.readdir(members))) {
        if (name === me || name.endsWith(".new")) continue
        if (now - (yield* seenAt(name)) < withinMillis) others++
        else yield* forget(name)
      }
      return others
    }),
    leave: forget(me)
  }
})
