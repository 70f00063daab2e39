/**
 * A snapshot on its way into a world. Its long arrays come in batches, as they are read; the new world is made beside the old
 * one, in steps between which requests are answered, and is put in its place as a whole.
 */
import type { FieldErrors } from "@berth/core/api/Envelope"
import { Result, Schema } from "effect"
import { strictReader } from "../transport/fields.ts"
import type { Batch } from "../transport/JsonReader.ts"
import type { Steps } from "../world/Steps.ts"
import * as World from "../world/World.ts"
import type { Account } from "../world/WorldSettings.ts"
import { maxSlidingLimit } from "../world/allowance.ts"
import { maxSavedImages } from "../world/savedImages.ts"
import { Instant } from "./bounds.ts"
import { addNode, NodeSnapshot, readHead, SavedImageSnapshot, Snapshot } from "./Snapshot.ts"

/** How many nodes a step adds. */
const nodesPerStep = 1000

/** A long array of a snapshot as far as it has come. Beyond `max` elements it is refused. */
class LongArray<A, I> {
  /** The elements, all of which have been read once and are as they should be. */
  readonly batches: Array<() => ReadonlyArray<A>> = []
  readonly #max: number
  readonly #read: (value: unknown) => Result.Result<ReadonlyArray<A>, FieldErrors>

  constructor(element: Schema.Codec<A, I>, max = Number.POSITIVE_INFINITY) {
    this.#max = max
    this.#read = strictReader(Schema.Array(element))
  }

  count = 0

  add({ again, array, elements, from }: Batch): FieldErrors | null {
    if (from + elements.length > this.#max) return { [array]: [`There are more than ${this.#max}.`] }
    const read = this.#read(elements)
    if (Result.isFailure(read)) return within(array, from, read.failure)
    this.count += elements.length
    this.batches.push(again as () => ReadonlyArray<A>)
    return null
  }
}

/** The errors of a batch by their paths in the whole snapshot. */
const within = (array: string, from: number, errors: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors).map(([path, sentences]) => [
      `${array}.${path.replace(/^\d+/, (index) => String(from + Number(index)))}`,
      sentences
    ])
  )

const readSnapshot = strictReader(Snapshot)

export class Restoration {
  readonly #nodes = new LongArray(NodeSnapshot)
  readonly #savedImages = new LongArray(SavedImageSnapshot, maxSavedImages)
  readonly #grants = new LongArray(Instant, maxSlidingLimit)
  readonly #arrays: Readonly<Record<string, { readonly add: (batch: Batch) => FieldErrors | null }>> = {
    nodes: this.#nodes,
    savedImages: this.#savedImages,
    "allowance.grants": this.#grants
  }

  /** The arrays that come in batches, by path. */
  get longArrays(): ReadonlyArray<string> {
    return Object.keys(this.#arrays)
  }

  /** How many nodes have come. */
  get nodeCount(): number {
    return this.#nodes.count
  }

  /** Takes a batch of one of them. */
  add(batch: Batch): FieldErrors | null {
    return this.#arrays[batch.array]!.add(batch)
  }

  /** Makes the world out of the batches and the rest of the snapshot, in steps. It can be made once. */
  *world(rest: unknown, { account, id, realMillis }: Owner): Generator<void, Result.Result<World.World, FieldErrors>> {
    const read = readSnapshot(rest)
    if (Result.isFailure(read)) return Result.fail(read.failure)
    const { allowance, nextNodeId } = read.success
    const head = {
      ...read.success,
      savedImages: this.#savedImages.batches.flatMap((batch) => batch()),
      allowance:
        "grants" in allowance ? { ...allowance, grants: this.#grants.batches.flatMap((batch) => batch()) } : allowance
    }
    const made = readHead(head, account, id, "where-it-stood", realMillis)
    if (Result.isFailure(made)) return made
    const world = made.success
    let index = 0
    for (let batch = this.#nodes.batches.shift(); batch !== undefined; batch = this.#nodes.batches.shift()) {
      for (const node of batch()) {
        const errors = addNode(world, nextNodeId, node)
        if (errors !== null) return Result.fail(under(`nodes.${index}`, errors))
        index += 1
        if (index % nodesPerStep === 0) yield
      }
    }
    world.nodes.skipTo(nextNodeId)
    return made
  }
}

/** Whose world it becomes. */
interface Owner {
  readonly id: string
  readonly account: Account
  /** Real time in milliseconds since the epoch. */
  readonly realMillis: number
}

const under = (path: string, errors: FieldErrors): FieldErrors =>
  Object.fromEntries(Object.entries(errors).map(([field, sentences]) => [`${path}.${field}`, sentences]))

/** Lets the clock of a restored world go on from here, and gives its instant in steps. */
export const resume = (restored: World.World, realMillis: number): Steps<number> => {
  restored.clock = { ...restored.clock, anchorRealMillis: realMillis }
  return World.enterInSteps(restored, realMillis)
}
