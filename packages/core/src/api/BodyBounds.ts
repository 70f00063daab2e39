/**
 * Checks the size of a body before it is parsed. `JSON.parse` blocks the process, and some strings take it a hundred
 * times longer than others of the same length. One scan over the string counts tokens and depth without parsing.
 */

/** Default of the client option `maxBodyTokens`. A page of 100 nodes has about 5000. */
export const defaultMaxBodyTokens = 200_000

/** Each `{` and `:` counts as this many tokens. With one token each, objects with many names or shapes would take up to 200 ms to parse. */
const memberTokens = 3

/** The maximum depth of a body. The service's replies are nested five deep. */
export const maxDepth = 64

/** Shorter strings are not scanned, because parsing them takes at most 35 ms. */
const unscannedLength = 65_536

const isEscaped = (text: string, quoteAt: number) => {
  let at = quoteAt
  while (text.charCodeAt(at - 1) === 92) at--
  return (quoteAt - at) % 2 === 1
}

/**
 * The limit that the text exceeds, as the error names it after "expected"; undefined if the text may be parsed. Tokens are `,` `[` `{`
 * `:` outside strings; `{` and `:` count three times.
 */
export const bodyFault = (text: string, maxTokens: number): string | undefined => {
  if (text.length <= Math.min(unscannedLength, maxTokens)) return undefined
  let tokens = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 34: // "
        do at = text.indexOf('"', at + 1)
        while (at !== -1 && isEscaped(text, at))
        // An unterminated string is not JSON; the parser reports it.
        if (at === -1) return undefined
        break
      case 91: // [
        depth++
        tokens++
        break
      case 123: // {
        depth++
        tokens += memberTokens
        break
      case 93: // ]
      case 125: // }
        depth--
        break
      case 44: // ,
        tokens++
        break
      case 58: // :
        tokens += memberTokens
    }
    if (depth > maxDepth) return `JSON nested at most ${maxDepth} deep`
    if (tokens > maxTokens) return `JSON of at most ${maxTokens} tokens (maxBodyTokens)`
  }
  return undefined
}
