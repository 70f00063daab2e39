// How the page asks the daemon: with the cookie of its reader, within a time, with refusals as errors; how it follows events; and whether what
// it shows is up to date, or since when it may not be.
import { setText } from "@berthkit/web/rows.js"
import { now } from "./model.js"
import { byId } from "./parts.js"

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

/** Where the daemon is: the page is its root, below whatever path a proxy shows it. */
const root = location.pathname.replace(/\/$/, "")

export const ask = async (path, { body, maxMillis = maxReplyMillis, method = "GET" } = {}) => {
  const reply = await fetch(root + path, {
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
  const source = new EventSource(`${root}/events?after=${encodeURIComponent(cursor)}`)
  source.onopen = onOpen
  source.onmessage = ({ data, lastEventId }) => onEvent({ cursor: lastEventId, event: JSON.parse(data) })
  source.onerror = () => {
    onLost()
    if (source.readyState !== EventSource.CLOSED) return
    setTimeout(onRefused, againMillis)
  }
  return () => source.close()
}

const link = {
  isFollowing: false,
  /** Why the daemon does not answer; nothing while it does. */
  silence: undefined,
  /** What the daemon answers instead, such as that its store cannot be reached; nothing where it does not answer. */
  refusal: undefined,
  /** Since when what is shown may be old. */
  lostMillis: undefined
}

/** A restart of the daemon is nothing to report. */
const noticeMillis = 3000

export const showConnection = (name, text) => {
  const element = byId("connection")
  element.dataset.state = name
  setText(element, text)
}

/** A stream stays open while the daemon stands still: the page is live only while the daemon answers, too. */
export const noteLink = (news) => {
  Object.assign(link, news)
  if (link.isFollowing && link.silence === undefined) {
    link.lostMillis = undefined
    return showConnection("live", "live")
  }
  link.lostMillis ??= now()
  const lost = link.refusal === undefined ? "connection lost, trying again" : "no news, trying again"
  showConnection("lost", link.isFollowing ? link.silence : lost)
}

export const isLost = () => link.lostMillis !== undefined

/** Why the daemon has nothing to show, in its own words; nothing where it cannot be reached at all. */
export const refusal = () => link.refusal

export const isSilent = () => link.silence !== undefined

/** Since when nothing has come in, once that is worth a line. */
export const lostMillis = () => (link.lostMillis < now() - noticeMillis ? link.lostMillis : undefined)
