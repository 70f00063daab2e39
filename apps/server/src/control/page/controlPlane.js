// How the page asks the control plane: with the token of its reader, within a time, and with refusals as errors.

const tokenKey = "berth-control-token"

/** How long a reply may take before the server counts as gone. */
const maxReplyMillis = 10_000

/** The same where a world is made anew: a fleet of millions takes its time. */
export const maxMakingMillis = 120_000

/**
 * The server has answered, with a failure: its message is the first sentence about a field, or `summary` where there is none.
 * `showedToken`: whether the request had a token to show. `errors`: sentences by field.
 */
export class Refused extends Error {
  constructor(status, sentence, showedToken, failure) {
    super(sentence)
    this.status = status
    this.showedToken = showedToken
    this.errors = failure?.errors ?? {}
    this.summary = failure?.message ?? sentence
  }
}

/** A header carries ASCII alone: a token with anything else goes as it would in a URL, and is refused. */
export const keepToken = (token) =>
  sessionStorage.setItem(tokenKey, /^[\x21-\x7e]+$/.test(token) ? token : encodeURIComponent(token))

/** Whether requests of this page show a token. What a link opens never does. */
export const hasToken = () => sessionStorage.getItem(tokenKey) !== null

/** What went wrong, for a person. */
export const sentenceOf = (error) => (error instanceof Refused ? error.message : "The server cannot be reached.")

/** A reply, once its headers are there. `body` is sent as JSON. */
export const ask = async (
  path,
  { body, maxMillis = maxReplyMillis, method = "GET", signal = AbortSignal.timeout(maxMillis) } = {}
) => {
  const token = sessionStorage.getItem(tokenKey)
  const headers = {
    accept: "application/json",
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" })
  }
  const reply = await fetch(`/_mock${path}`, { method, headers, signal, body: body && JSON.stringify(body) })
  if (reply.ok) return reply
  // A token that was typed in meanwhile has not been refused.
  if (reply.status === 401 && sessionStorage.getItem(tokenKey) === token) sessionStorage.removeItem(tokenKey)
  const failure = await reply.json().catch(() => undefined)
  const [detail] = Object.values(failure?.errors ?? {}).flat()
  const sentence = detail ?? failure?.message ?? `The server answered ${reply.status}.`
  throw new Refused(reply.status, sentence, token !== null, failure)
}

const read = async (path, options) => (await ask(path, options)).json()

export const worldPath = (id, path = "") => `/worlds/${encodeURIComponent(id)}${path}`

/** The worlds there are, and those whose journals are still kept, the one that ended last first. */
export const readWorlds = async () => {
  const [living, ended] = await Promise.all([read("/worlds"), read("/ended-worlds")])
  return { living, ended: ended.toReversed() }
}

/** Ids are put into paths: whatever else an address names is no world, and no part of a path either. */
const isWorldId = (id) => /^[\w-]{1,64}$/.test(id)

/**
 * All that is shown of a world. `is` is `living`, `ended` or `unknown`. `worlds` are those there were a moment ago, `seen` is what
 * was read of this one last: an end is final, and is not read again but for more of its journal.
 */
export const readWorld = async (id, { maxEntries, pageSize, seen, skip, worlds }) => {
  const isOneOf = (list) => list.some((world) => world.id === id)
  const isLiving = isOneOf(worlds.living)
  if (!isLiving && seen?.is === "ended" && seen.maxEntries >= maxEntries) return seen
  if (!isLiving && seen?.is === "unknown" && !isOneOf(worlds.ended)) return seen
  if (!isWorldId(id)) return { is: "unknown" }
  try {
    const journal = await read(worldPath(id, `/requests?limit=${maxEntries}`))
    if (journal.ended !== undefined) return { is: "ended", journal, maxEntries }
    const [world, nodes, faults] = await Promise.all([
      read(worldPath(id)),
      read(worldPath(id, `/nodes?skip=${skip}&count=${pageSize}`)),
      read(worldPath(id, "/faults"))
    ])
    return { is: "living", world, nodes, faults, journal }
  } catch (error) {
    if (error.status !== 404) throw error
    return { is: "unknown", sentence: error.message }
  }
}

/**
 * Resolves when something has happened in a world: a request to it, its end, or the end of the server. The journal itself is
 * read anew then, so that a slow page skips what it could not show.
 */
export const watchWorld = async (id, signal, onSign) => {
  const stream = await ask(`/events?world=${encodeURIComponent(id)}`, { signal })
  const reader = stream.body.getReader()
  while (!(await reader.read()).done) onSign()
}
