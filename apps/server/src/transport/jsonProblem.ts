/**
 * What a well-formed JSON text may not have in a request of the control plane: depth and values without end, which cost time in
 * all that reads them, and a key that comes twice, of which `JSON.parse` keeps the last.
 */

/** How deep arrays and objects may be nested. */
export const maxDepth = 64

/** Values in the body of a request, but for a snapshot. */
export const maxValues = 20_000

/** Values in a snapshot: twice as many as one of the greatest length has. */
export const maxSnapshotValues = 2_000_000

/** Fields of one object: a reader names each that there is not. */
export const maxFields = 1000

/** Strings and whatever structures: the rest of a well-formed text needs no reading. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g

interface Open {
  /** The keys so far; `undefined` in an array. */
  readonly keys: Set<string> | undefined
  at: string | number
}

interface JsonProblem {
  /** As in `nodes.3.id`; empty for the text as a whole. */
  readonly path: string
  readonly sentence: string
}

/** The first problem of a text that `JSON.parse` has read. */
export const jsonProblem = (json: string, most = maxValues): JsonProblem | undefined => {
  const open: Array<Open> = []
  let values = 0
  let latest = ""
  const costly = (sentence: string): JsonProblem => ({
    path: open[0]?.keys === undefined ? "" : `${open[0].at}`,
    sentence
  })
  for (const [token] of json.matchAll(tokens)) {
    const here = open.at(-1)
    switch (token) {
      case "{":
      case "[":
        if (open.length === maxDepth) return costly(`Expected at most ${maxDepth} levels of arrays and objects.`)
        if (++values > most) return costly(`Expected at most ${most} values.`)
        open.push(token === "{" ? { keys: new Set(), at: "" } : { keys: undefined, at: 0 })
        break
      case "}":
      case "]":
        open.pop()
        break
      case ",":
        if (++values > most) return costly(`Expected at most ${most} values.`)
        if (typeof here?.at === "number") here.at += 1
        break
      case ":": {
        const { keys } = here!
        here!.at = String(JSON.parse(latest))
        if (keys!.has(here!.at))
          return { path: open.map(({ at }) => at).join("."), sentence: "The field is given twice." }
        if (keys!.size === maxFields) return costly(`Expected at most ${maxFields} fields in an object.`)
        keys!.add(here!.at)
        break
      }
      default:
        latest = token
    }
  }
  return undefined
}
