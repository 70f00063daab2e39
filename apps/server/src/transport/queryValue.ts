/**
 * A parameter off the query of a URL, as `URLSearchParams` reads it. That one reads all of them, which takes twice as long, at
 * every request.
 */

/** Its value where the query gives it once, or the same each time; `undefined` also where that is empty. */
export const onlyValueOf = (name: string, url: string): string | undefined => {
  const at = url.indexOf("?")
  if (at < 0) return undefined
  let only: string | undefined
  for (const part of url.slice(at + 1).split("&")) {
    const equals = part.indexOf("=")
    if (decoded(equals < 0 ? part : part.slice(0, equals)) !== name) continue
    const value = equals < 0 ? "" : decoded(part.slice(equals + 1))
    if (only !== undefined && value !== only) return undefined
    only = value
  }
  return only === "" ? undefined : only
}

const decoded = (text: string): string => (/[%+]/.test(text) ? new URLSearchParams(`_=${text}`).get("_")! : text)
