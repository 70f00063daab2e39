/**
 * How far two texts are from each other, as a person who mistypes one sees it: 0 when they are the same, 1 when nothing is
 * common, in between the part of the longer one that has to be edited. Case hardly counts. The cost is bounded: what is common
 * at both ends is stepped over, and of the rest so much is compared exactly.
 */

/** Characters between the common ends that are compared exactly: a table of their square is filled. */
const maxCompared = 64

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

/** Insertions, deletions, replacements, and swaps of two neighbours; beyond `maxCompared` only the lengths count. */
const editDistance = (wanted: string, given: string, isPattern: boolean): number => {
  const [left, right] = [wanted.slice(0, maxCompared), given.slice(0, maxCompared)]
  const rest = isPattern && wanted.includes("*") ? 0 : Math.abs(wanted.length - given.length)
  const beyond = wanted.length > maxCompared || given.length > maxCompared ? rest : 0
  let before: ReadonlyArray<number> = []
  let above: Array<number> = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row++) {
    const wild = isPattern ? left[row - 1] : undefined
    const line = [wild === "*" ? above[0]! : above[0]! + 1]
    for (let column = 1; column <= right.length; column++) {
      if (wild === "*") {
        line.push(Math.min(above[column]!, line[column - 1]!))
        continue
      }
      const isSame = wild === "?" || left[row - 1] === right[column - 1]
      let edits = Math.min(above[column]! + 1, line[column - 1]! + 1, above[column - 1]! + (isSame ? 0 : 1))
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        edits = Math.min(edits, before[column - 2]! + 1)
      }
      line.push(edits)
    }
    before = above
    above = line
  }
  return above[right.length]! + beyond
}
