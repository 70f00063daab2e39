/**
 * Patterns for names, headers and paths: `*` matches any text, `?` one character. The matcher follows all possible positions
 * in the pattern at the same time, as bits, so it reads a string only once. Each character of the string takes one step for
 * every 32 characters of the pattern.
 */

/** Maximum length of a pattern in characters; for patterns of names, 255. */
export const maxPatternLength = 1024
export const maxNamePatternLength = 255

type Matcher = (text: string) => boolean

const isWild = (pattern: string): boolean => pattern.includes("*") || pattern.includes("?")

/** The number of steps that a pattern costs per character of a string; 0 if it has no wildcard. */
export const patternCost = (pattern: string): number => (isWild(pattern) ? (pattern.length >>> 5) + 1 : 0)

const compile = (pattern: string): Matcher => {
  if (!isWild(pattern)) return (text) => text === pattern
  const characters = pattern.replaceAll("*", "")
  const words = (characters.length >>> 5) + 1
  const makeBits = () => new Int32Array(words)
  const set = (bits: Int32Array, place: number) => (bits[place >>> 5]! |= 1 << (place & 31))
  /** The positions at a `*`, where the matcher may stay. */
  const stays = makeBits()
  /**
   * `any`: the positions from which every character leads to the next one. `leads`: for a character, the positions from
   * which this character leads to the next one.
   */
  const any = makeBits()
  const leads = new Map<number, Int32Array>()
  let place = 0
  for (let at = 0; at < pattern.length; at++) {
    const code = pattern.charCodeAt(at)
    if (pattern[at] === "*") set(stays, place)
    else if (pattern[at] === "?") set(any, place++)
    else {
      const bits = leads.get(code) ?? makeBits()
      leads.set(code, bits)
      set(bits, place++)
    }
  }
  for (const bits of leads.values()) any.forEach((word, index) => (bits[index]! |= word))
  return (text) => {
    const reached = makeBits()
    reached[0] = 1
    for (let at = 0; at < text.length; at++) {
      const leading = leads.get(text.charCodeAt(at)) ?? any
      let carry = 0
      let anywhere = 0
      for (let word = 0; word < words; word++) {
        const before = reached[word]!
        const led = before & leading[word]!
        const after = (led << 1) | carry | (before & stays[word]!)
        carry = led >>> 31
        anywhere |= after
        reached[word] = after
      }
      if (anywhere === 0) return false
    }
    return ((reached[place >>> 5]! >>> (place & 31)) & 1) === 1
  }
}

/** Caches the latest patterns, because a world has few and uses them often. */
const known = new Map<string, Matcher>()
const maxKnown = 1000

/** Whether a string matches a pattern. Case-sensitive. */
export const matches = (pattern: string, text: string): boolean => {
  let matcher = known.get(pattern)
  if (matcher === undefined) {
    if (known.size >= maxKnown) known.clear()
    matcher = compile(pattern)
    known.set(pattern, matcher)
  }
  return matcher(text)
}
