/**
 * Patterns of names, headers, paths: `*` is any text, `?` one character. All places in the pattern that a text may have come to
 * are followed at once, as bits, so that no pattern makes a text be read twice: 32 characters of the pattern cost one step for
 * each character of the text.
 */

/** The longest pattern there is; of names 255 are enough. */
export const maxPatternLength = 1024
export const maxNamePatternLength = 255

type Matcher = (text: string) => boolean

const isWild = (pattern: string): boolean => pattern.includes("*") || pattern.includes("?")

/** How many steps a pattern costs for each character of a text; none where it stands for itself. */
export const patternCost = (pattern: string): number => (isWild(pattern) ? (pattern.length >>> 5) + 1 : 0)

const compile = (pattern: string): Matcher => {
  if (!isWild(pattern)) return (text) => text === pattern
  const characters = pattern.replaceAll("*", "")
  const words = (characters.length >>> 5) + 1
  const makeBits = () => new Int32Array(words)
  const set = (bits: Int32Array, place: number) => (bits[place >>> 5]! |= 1 << (place & 31))
  /** The places behind which a `*` stays. */
  const stays = makeBits()
  /** The places from which any character leads on, and for each character of the pattern those from which it does. */
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

/** A world has few patterns and asks for them often: the latest are kept. */
const known = new Map<string, Matcher>()
const maxKnown = 1000

/** Whether a text matches a pattern; case counts. */
export const matches = (pattern: string, text: string): boolean => {
  let matcher = known.get(pattern)
  if (matcher === undefined) {
    if (known.size >= maxKnown) known.clear()
    matcher = compile(pattern)
    known.set(pattern, matcher)
  }
  return matcher(text)
}
