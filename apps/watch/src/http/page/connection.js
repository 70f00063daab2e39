// How the page asks the daemon: with the cookie of its reader, within a time, with refusals as errors; and how it follows events.

/** How long a reply may take before the daemon counts as gone. */
const maxReplyMillis = 15_000

/** How soon the page tries again after the daemon was gone, or refused to be followed. */
const againMillis = 1500

/** The daemon has answered, with a failure. */
export class Refused extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export const ask = async (path, { body, maxMillis = maxReplyMillis, method = "GET" } = {}) => {
  const reply = await fetch(path, {
    method,
    headers: { accept: "application/json", ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(maxMillis)
  })
  if (reply.ok) return reply.status === 204 ? undefined : reply.json()
  const failure = await reply.json().catch(() => undefined)
  throw new Refused(reply.status, failure?.message ?? `The daemon answered ${reply.status}.`)
}

/** So many nodes are shown at once; those of a large account follow. */
const firstNodes = 1000
const nodesAtOnce = 10_000

/** The nodes page by page, each with the cursor behind which changes of all of them are. */
export const readNodes = async function* () {
  let page = await ask(`/api/nodes?limit=${firstNodes}`)
  const { cursor } = page
  for (;;) {
    yield { nodes: page.nodes, cursor, isLast: page.next === null }
    if (page.next === null) return
    page = await ask(`/api/nodes?limit=${nodesAtOnce}&after=${encodeURIComponent(page.next)}`)
  }
}

/**
 * Follows the events behind a cursor. The browser comes back by itself to a daemon that was gone. `onRefused` is called when the
 * daemon will not be followed from where the page was: then everything is to be read anew.
 */
export const follow = (cursor, { onEvent, onOpen, onLost, onRefused }) => {
  const source = new EventSource(`/events?after=${encodeURIComponent(cursor)}`)
  source.onopen = onOpen
  source.onmessage = ({ data, lastEventId }) => onEvent({ cursor: lastEventId, event: JSON.parse(data) })
  source.onerror = () => {
    onLost()
    if (source.readyState !== EventSource.CLOSED) return
    setTimeout(onRefused, againMillis)
  }
  return () => source.close()
}
