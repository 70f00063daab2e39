/**
 * Finds secrets by their names in a text that may be cut off, such as the beginning of a JSON body.
 */
import { isSecretName } from "@berthkit/core/domain/secretName"

/** A notation of a name and its value. */
export interface Notation {
  /** Matches a name, in the first group, and the text up to its value. */
  readonly name: RegExp
  /** Matches a value. */
  readonly value: RegExp
}

/** JSON fields with a text value. If the text is cut off within a value, the value ends where the text ends. */
export const jsonField: Notation = { name: /"([^"]*)"\s*:\s*(?=")/g, value: /"(?:[^"\\]|\\[^])*(?:"|\\?$)/y }

/** Parameters of an address, and assignments in logs and programs. */
export const assignment: Notation = {
  name: /([\w.-]{1,64})["']?\s*(?:=|:|%3D)\s*["']?/gi,
  value: /[^\s"'&,;<>{}]{4,}/y
}

interface Found {
  readonly from: number
  readonly value: string
}

/** The values with names of secrets, in order. The value of any other name is searched for further names. */
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

/** Replaces the named secrets of a text. */
export const hideNamed = (text: string, notation: Notation, instead: string): string => {
  let [clean, done] = ["", 0]
  for (const { from, value } of namedSecrets(text, notation)) {
    clean += text.slice(done, from) + instead
    done = from + value.length
  }
  return clean + text.slice(done)
}
