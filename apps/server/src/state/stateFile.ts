/**
 * The state file: all worlds of a server as lines of text, each with its checksum, so that damage is found where
 * it is. This module has the lines, `stateKeeper.ts` the file system.
 *
 * `CHECKSUM {"state":…}`, then per world `CHECKSUM {"world":…}` and its nodes as `CHECKSUM {"nodes":[…]}`, and last
 * `CHECKSUM {"end":LINES}`. The checksum is the CRC-32 of what follows the space, in hexadecimal.
 */
import { crc32 } from "node:zlib"
import { Redacted, Result, Schema } from "effect"
import { fieldErrors } from "../transport/fields.ts"
import {
  addNode,
  NodeSnapshot,
  readHead,
  SnapshotHead,
  takeHead,
  type TakenNodes,
  takeNodes,
  writeNodes
} from "./Snapshot.ts"
import { defaultId, type World } from "../world/World.ts"
import { Worlds } from "../world/Worlds.ts"

const StateLine = Schema.Struct({
  state: Schema.Literal("berth-state/1"),
  worlds: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  made: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

const WorldLine = Schema.Struct({
  world: Schema.Struct({
    id: Schema.String,
    apiKey: Schema.NonEmptyString,
    accessToken: Schema.NonEmptyString,
    snapshot: SnapshotHead
  })
})

const NodesLine = Schema.Struct({ nodes: Schema.Array(NodeSnapshot) })

const EndLine = Schema.Struct({ end: Schema.Int })

const checksum = (text: string | Uint8Array): string => crc32(text).toString(16).padStart(8, "0")

const line = (value: unknown): string => {
  const json = JSON.stringify(value)
  return `${checksum(json)} ${json}\n`
}

/** The worlds at one instant: what is needed to write them down later, while they go on. */
export interface Taken {
  readonly made: number
  readonly worlds: ReadonlyArray<{
    readonly head: (typeof WorldLine.Type)["world"]
    readonly nodes: TakenNodes
  }>
}

export const takeWorlds = (worlds: Worlds): Taken => ({
  made: worlds.made,
  worlds: worlds.list().map((world) => ({
    head: {
      id: world.id,
      apiKey: Redacted.value(world.settings.account.apiKey),
      accessToken: Redacted.value(world.settings.account.accessToken),
      snapshot: takeHead(world)
    },
    nodes: takeNodes(world)
  }))
})

/** The lines of the file, one after another, each with its end of line. */
export function* writeLines({ made, worlds }: Taken): Generator<string> {
  let count = 1
  yield line({ state: "berth-state/1", worlds: worlds.length, made } satisfies typeof StateLine.Type)
  for (const { head, nodes } of worlds) {
    yield line({ world: head } satisfies typeof WorldLine.Type)
    count += 1
    for (const group of writeNodes(nodes)) {
      yield line({ nodes: group } satisfies typeof NodesLine.Type)
      count += 1
    }
  }
  yield line({ end: count + 1 } satisfies typeof EndLine.Type)
}

/** Where a file is damaged and how, as in `line 3: its checksum does not match`. */
export type Damage = string

const strict = { errors: "first", onExcessProperty: "error" } as const
const decodeState = Schema.decodeUnknownResult(StateLine, strict)
const decodeWorld = Schema.decodeUnknownResult(WorldLine, strict)
const decodeNodes = Schema.decodeUnknownResult(NodesLine, strict)
const decodeEnd = Schema.decodeUnknownResult(EndLine, strict)

/** Reads a whole file back. `realMillis` is the real time: a clock that was passing has gone on meanwhile. */
export const readLines = (bytes: Uint8Array, realMillis: number): Result.Result<Worlds, Damage> => {
  const file = new Lines(bytes)
  try {
    const state = file.next(decodeState)
    const worlds: Array<World> = []
    while (file.peek("world")) worlds.push(readWorld(file, realMillis, worlds))
    const { end } = file.next(decodeEnd)
    if (end !== file.line || worlds.length !== state.worlds) file.fail("lines are missing before it")
    file.expectEnd()
    const [main, ...others] = worlds
    if (main?.id !== defaultId) file.fail(`the first world is not ${defaultId}`)
    return Result.succeed(new Worlds(main!, others, state.made))
  } catch (error) {
    if (error instanceof Damaged) return Result.fail(error.message)
    throw error
  }
}

const readWorld = (file: Lines, realMillis: number, before: ReadonlyArray<World>): World => {
  const { accessToken, apiKey, id, snapshot } = file.next(decodeWorld).world
  const isTaken = before.some(
    ({ id: other, settings: { account } }) =>
      other === id || Redacted.value(account.apiKey) === apiKey || Redacted.value(account.accessToken) === accessToken
  )
  if (isTaken) file.fail(`another world has the id or a credential of ${id}`)
  const account = { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
  const world = readHead(snapshot, account, id, "as-if-never-stopped", realMillis)
  if (Result.isFailure(world)) return file.failAt("world.snapshot", world.failure)
  while (file.peek("nodes")) {
    for (const [index, node] of file.next(decodeNodes).nodes.entries()) {
      const errors = addNode(world.success, snapshot.nextNodeId, node)
      if (errors !== null) file.failAt(`nodes.${index}`, errors)
    }
  }
  world.success.nodes.skipTo(snapshot.nextNodeId)
  return world.success
}

/** Thrown within this file only, because damage can be found at any depth. */
class Damaged extends Error {}

type Decode<A> = (value: unknown) => Result.Result<A, Schema.SchemaError>

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The lines of a file, checked one by one. */
class Lines {
  readonly #bytes: Uint8Array
  #at = 0
  #ahead: unknown
  /** The number of the line that was read last, from 1. */
  line = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The next line as what it should be. */
  next<A>(decode: Decode<A>): A {
    const value = this.#peek()
    this.#ahead = undefined
    const decoded = decode(value)
    if (Result.isSuccess(decoded)) return decoded.success
    return this.failAt("", fieldErrors(decoded.failure.issue, "whole"))
  }

  /** Whether the next line is of this kind. */
  peek(kind: string): boolean {
    const value = this.#peek()
    return typeof value === "object" && value !== null && kind in value
  }

  expectEnd(): void {
    if (this.#at < this.#bytes.length) {
      this.line += 1
      this.fail("something follows the end of the state")
    }
  }

  fail(how: string): never {
    throw new Damaged(`line ${this.line}: ${how}`)
  }

  failAt(where: string, errors: Readonly<Record<string, ReadonlyArray<string>>>): never {
    const [[field, sentences] = ["", []]] = Object.entries(errors)
    const path = [where, field === "detail" ? "" : field].filter((part) => part !== "").join(".")
    return this.fail(`${path === "" ? "" : `${path}: `}${sentences[0] ?? "not valid"}`)
  }

  #peek(): unknown {
    this.#ahead ??= this.#read()
    return this.#ahead
  }

  #read(): unknown {
    const end = this.#bytes.indexOf(10, this.#at)
    if (end < 0) {
      this.line += 1
      return this.fail(this.#at === this.#bytes.length ? "the file ends before the state does" : "it is cut off")
    }
    const line = this.#bytes.subarray(this.#at, end)
    this.#at = end + 1
    this.line += 1
    const json = line.subarray(9)
    const claimed = Buffer.from(line.buffer, line.byteOffset, Math.min(9, line.length)).toString("latin1")
    if (!/^[0-9a-f]{8} $/.test(claimed)) return this.fail("this is no line of a state file")
    if (claimed !== `${checksum(json)} `) return this.fail("its checksum does not match")
    try {
      return JSON.parse(utf8.decode(json))
    } catch {
      return this.fail("this is no JSON")
    }
  }
}
