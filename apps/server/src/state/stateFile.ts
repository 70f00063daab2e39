/**
 * The state file: all worlds of a server as one line of text, `CHECKSUM {"state":…,"worlds":[…]}`. The checksum is the CRC-32
 * of the JSON in hexadecimal. This module handles the text, `stateKeeper.ts` the file system.
 */
import { crc32 } from "node:zlib"
import type { FieldErrors } from "@berthkit/core/api/Envelope"
import { Redacted, Result, Schema } from "effect"
import { strictReader } from "@berthkit/core/api/readFields"
import type { Catalogue } from "../world/catalogue.ts"
import { defaultId, type World } from "../world/World.ts"
import { Worlds } from "../world/Worlds.ts"
import { restore, Snapshot, takeSnapshot } from "./Snapshot.ts"

const State = Schema.Struct({
  state: Schema.Literal("berth-state/2"),
  /** How many worlds were made after the first one. */
  made: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  worlds: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      apiKey: Schema.NonEmptyString,
      accessToken: Schema.NonEmptyString,
      snapshot: Snapshot
    })
  )
})

const checksum = (text: string | Uint8Array): string => crc32(text).toString(16).padStart(8, "0")

/** The current state of all worlds. */
export const writeState = (worlds: Worlds): string => {
  const json = JSON.stringify({
    state: "berth-state/2",
    made: worlds.made,
    worlds: worlds.list().map((world) => ({
      id: world.id,
      apiKey: Redacted.value(world.settings.account.apiKey),
      accessToken: Redacted.value(world.settings.account.accessToken),
      snapshot: takeSnapshot(world)
    }))
  } satisfies typeof State.Type)
  return `${checksum(json)} ${json}\n`
}

const read = strictReader(State)

const sentenceOf = (where: string, errors: FieldErrors): string => {
  const [[field, [sentence = ""]] = ["", []]] = Object.entries(errors)
  return [...[where, field].filter((part) => part !== "" && part !== "detail"), sentence].join(": ")
}

/**
 * The worlds in a file's text, or what is wrong with the text. `realMillis` is the current real time, because a running
 * clock has gone on while the server was down.
 */
export const readState = (text: string, realMillis: number, catalogue?: Catalogue): Result.Result<Worlds, string> => {
  const [, claimed, json] = /^([0-9a-f]{8}) (.*)\n$/s.exec(text) ?? []
  if (json === undefined) return Result.fail("it does not begin and end like a state file")
  if (claimed !== checksum(json)) return Result.fail("its checksum does not match")
  const state = Result.flatMap(
    Result.try({ try: (): unknown => JSON.parse(json), catch: () => ({ detail: ["It is not JSON."] }) as FieldErrors }),
    read
  )
  if (Result.isFailure(state)) return Result.fail(sentenceOf("", state.failure))
  const worlds: Array<World> = []
  const taken = new Set<string>()
  for (const { accessToken, apiKey, id, snapshot } of state.success.worlds) {
    const names = [id, `key ${apiKey}`, `token ${accessToken}`]
    if (names.some((name) => taken.has(name))) return Result.fail(`another world has the id or a credential of ${id}`)
    for (const name of names) taken.add(name)
    const account = { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
    const world = restore(snapshot, account, id, "as-if-never-stopped", realMillis, catalogue)
    if (Result.isFailure(world)) return Result.fail(sentenceOf(`worlds.${worlds.length}.snapshot`, world.failure))
    worlds.push(world.success)
  }
  const [main, ...others] = worlds
  return main?.id === defaultId
    ? Result.succeed(new Worlds(main, others, state.success.made))
    : Result.fail(`the first world is not ${defaultId}`)
}
