/** JSON from outside, which may be anything. */

/** The value of a text; undefined for one that is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
