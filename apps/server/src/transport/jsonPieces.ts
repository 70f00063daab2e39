/**
 * Replies whose JSON is long: it is made piece by piece while it is sent, each piece in a turn of its own, so that other requests
 * are answered meanwhile and a client that does not read holds no more than a piece.
 */
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** Characters of a piece, at least: one that is begun is finished with its last element. */
const minPieceLength = 16 * 1024

/** In the place of an element: it takes work to find the next one, so a piece ends here. */
export const pause = Symbol("pause")

/** A long array, and the texts before and after it. */
export function* arrayPieces<A>(
  elements: Iterable<A | typeof pause>,
  show: (element: A) => unknown,
  [before, after]: readonly [string, string] = ["", ""]
): Generator<string> {
  let piece = `${before}[`
  let separator = ""
  for (const element of elements) {
    if (element === pause) {
      yield piece
      piece = ""
      continue
    }
    piece += separator + JSON.stringify(show(element))
    separator = ","
    if (piece.length < minPieceLength) continue
    yield piece
    piece = ""
  }
  yield `${piece}]${after}`
}

/** An object whose field `name` is a long array; the other fields come before it and after it. */
export const objectPieces = <A>(
  before: object,
  name: string,
  elements: Iterable<A>,
  show: (element: A) => unknown,
  after: object = {}
): Generator<string> => {
  const head = JSON.stringify(before).slice(0, -1)
  const tail = JSON.stringify(after).slice(1)
  return arrayPieces(elements, show, [
    `${head}${head === "{" ? "" : ","}${JSON.stringify(name)}:`,
    `${tail === "}" ? "" : ","}${tail}`
  ])
}

const utf8 = new TextEncoder()

/** A reply of JSON in pieces. */
export const piecesReply = (
  pieces: Iterable<string>,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse => {
  // One piece at a time: a client that reads fast would have them all in one turn.
  const inTurns = Stream.fromIterable(pieces, { chunkSize: 1 })
  const bytes = Stream.mapEffect(inTurns, (piece) => Effect.as(Effect.yieldNow, utf8.encode(piece)))
  const sent = Stream.filter(bytes, ({ length }) => length > 0)
  return HttpServerResponse.stream(sent, { contentType: "application/json", headers })
}
