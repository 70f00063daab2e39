/**
 * Finds secrets by their names in a text, which may be cut off, such as the beginning of a JSON body.
 */
import { isSecretName } from "@berthkit/core/domain/secretName"

/** How a text writes a name before its value. */
export interface Notation {
  /** A name, as the first group, and what stands between it and its value. */
  readonly name: RegExp
  /** A value. */
  readonly value: RegExp
}

/** The fields of JSON that hold a text; one that is cut off ends with the text. */
export const jsonField: Notation = { name: /"([^"]*)"\s*:\s*(?=")/g, value: /"(?:[^"\\]|\\[^])*(?:"|\\?$)/y }

/** Parameters of an address, and what a log or a program assigns. */
export const assignment: Notation = {
  name: /([\w.-]{1,64})["']?\s*(?:=|:|%3D)\s*["']?/gi,
  value: /[^\s"'&,;<>{}]{4,}/y
}

interface Found {
  readonly from: number
  readonly value: string
}

/** The values of a text that are named like secrets, in order. What follows another name is searched in its turn. */
export const namedSecrets = (text: string, { name, value }: Notation): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  let done = 0
  for (const match of text.matchAll(name)) {
    const from = match.index + match[0].length
    if (from < done || !isSecretName(match[1]!)) continue
    value.lastIndex = from
    const secret = value.exec(text)?.[0]
    if (secret === undefined) continue
    found.push({ from, value: secret })
    done = from + secret.length
  }
  return found
}

/** A text with something else in place of its named secrets. */
export const hideNamed = (text: string, notation: Notation, instead: string): string => {
  let [clean, done] = ["", 0]
  for (const { from, value } of namedSecrets(text, notation)) {
    clean += text.slice(done, from) + instead
    done = from + value.length
  }
  return clean + text.slice(done)
}
