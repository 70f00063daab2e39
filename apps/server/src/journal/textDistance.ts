/**
 * How far two texts are from each other, as a person who mistypes one sees it: 0 when they are the same, 1 when nothing is
 * common, in between the part of the longer one that has to be edited. Case hardly counts. The cost is bounded: what is common
 * at both ends is stepped over, and of the rest so much is compared exactly.
 */

/** Characters between the common ends that are compared exactly: a table of their square is filled. */
const maxCompared = 32

/** How many steps a comparison of two texts takes at most. */
export const comparisonCost = (wanted: string, given: string): number =>
  maxCompared + Math.min(wanted.length, maxCompared) * Math.min(given.length, maxCompared)

/** Of texts that differ only in case. */
const minDistance = 0.05

export const textDistance = (wanted: string, given: string): number => distance(wanted, given, false)

/** The same of a pattern, in which `*` stands for any text and `?` for one character. */
export const patternDistance = (pattern: string, given: string): number => distance(pattern, given, true)

/** The distance of two paths. Of the leading segments that are the same only the last one counts. */
export const pathDistance = (pattern: string, given: string): number => {
  const [wanted, asked] = [pattern.split("/"), given.split("/")]
  let same = 0
  while (wanted[same + 1] !== undefined && wanted[same] === asked[same] && wanted[same + 1] === asked[same + 1])
    same += 1
  return patternDistance(wanted.slice(same).join("/"), asked.slice(same).join("/"))
}

const distance = (wanted: string, given: string, isPattern: boolean): number => {
  if (wanted === given) return 0
  const [left, right] = [wanted.toLowerCase(), given.toLowerCase()]
  const isWild = (character: string | undefined) => isPattern && (character === "*" || character === "?")
  const shorter = Math.min(left.length, right.length)
  let start = 0
  while (start < shorter && left[start] === right[start] && !isWild(left[start])) start += 1
  let end = 0
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end) && !isWild(left.at(-1 - end))) end += 1
  const edits = editDistance(left.slice(start, left.length - end), right.slice(start, right.length - end), isPattern)
  return Math.max(minDistance, Math.min(1, edits / Math.max(left.length, right.length, 1)))
}

/** Insertions, deletions, replacements, and swaps of two neighbours. What is beyond `maxCompared` is as different as what is not. */
const editDistance = (wanted: string, given: string, isPattern: boolean): number => {
  const rows = Math.min(wanted.length, maxCompared)
  const columns = Math.min(given.length, maxCompared)
  let [before, above, line] = tables
  for (let column = 0; column <= columns; column++) above[column] = column
  for (let row = 1; row <= rows; row++) {
    const character = wanted[row - 1]
    const isAny = isPattern && character === "*"
    const isOne = isPattern && character === "?"
    line[0] = isAny ? above[0]! : above[0]! + 1
    for (let column = 1; column <= columns; column++) {
      if (isAny) {
        line[column] = Math.min(above[column]!, line[column - 1]!)
        continue
      }
      const isSame = isOne || character === given[column - 1]
      let edits = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (isSame ? 0 : 1))
      if (row > 1 && column > 1 && character === given[column - 2] && wanted[row - 2] === given[column - 1]) {
        edits = Math.min(edits, before[column - 2]! + 1)
      }
      line[column] = edits
    }
    ;[before, above, line] = [above, line, before]
  }
  const compared = Math.max(rows, columns)
  const isWhole = wanted.length <= maxCompared && given.length <= maxCompared
  return isWhole ? above[columns]! : (above[columns]! / compared) * Math.max(wanted.length, given.length)
}

/** Three lines of the table, used again by every comparison. */
const tables = [0, 1, 2].map(() => new Uint16Array(maxCompared + 1)) as [Uint16Array, Uint16Array, Uint16Array]
