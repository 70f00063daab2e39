// Whether the page is up to date, and since when it may not be.
import { setText } from "@berthkit/web/rows.js"
import { now } from "./model.js"
import { byId } from "./parts.js"

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
