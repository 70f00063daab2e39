/**
 * Finds keys that come twice in one JSON object. `JSON.parse` keeps the last of them, so a body with two answers to one
 * question would pass for one with one.
 */

/** How many keys a parsed value has, at any depth. */
export const countKeys = (value: unknown): number => {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (const element of value) count += countKeys(element)
  else for (const key in value) count += 1 + countKeys((value as Record<string, unknown>)[key])
  return count
}

/** Strings and whatever structures: the rest of a well-formed text needs no reading. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

interface Open {
  /** The keys so far; `undefined` in an array. */
  readonly keys: Set<string> | undefined
  at: string | number
}

/** The path of the first key that comes twice in a well-formed text; empty when none does. */
export const duplicateKey = (json: string): Array<string | number> => {
  const open: Array<Open> = []
  let latest = ""
  for (const [token] of json.matchAll(tokens)) {
    const here = open.at(-1)
    if (token === "{") open.push({ keys: new Set(), at: "" })
    else if (token === "[") open.push({ keys: undefined, at: 0 })
    else if (token === "}" || token === "]") open.pop()
    else if (token === ",") {
      if (typeof here?.at === "number") here.at += 1
    } else if (token !== ":") latest = token
    else if (here?.keys !== undefined) {
      here.at = String(JSON.parse(latest))
      if (here.keys.has(here.at)) return open.map(({ at }) => at)
      here.keys.add(here.at)
    }
  }
  return []
}
