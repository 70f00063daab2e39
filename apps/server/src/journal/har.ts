/**
 * A journal as an HTTP Archive (HAR 1.2), for HTTP viewers and proxies. It has no more than the journal: only the beginning
 * of each body, the bodies of replies only if they are failures or a fault has fired, and redacted credentials.
 */
import { STATUS_CODES } from "node:http"
import { DateTime } from "effect"
import pkg from "../../package.json" with { type: "json" }
import type { Recorded, WorldJournal } from "./Journals.ts"
import { type Redactor, redactorOf, showHeaders } from "./JournalEntry.ts"

const httpVersion = "HTTP/1.1"

/** Required fields of the archive whose values are unknown: cookies are hidden, and nobody records the sizes of headers. */
const unrecorded = { cookies: [], headersSize: -1 }

const headersOf = (headers: Recorded["headers"], redact: Redactor) =>
  Object.entries(showHeaders(headers, redact)).map(([name, value]) => ({ name, value }))

/** The archive. `origin` is the scheme and host of the server, without a path. */
export const harOf = ({ account, ended, id, journal, seed }: WorldJournal, origin: string) => {
  const redact = redactorOf(account)
  const dropped = journal.count - journal.kept
  const comments = [
    `World ${id} with the seed ${seed}.`,
    ...(dropped === 0 ? [] : [`Requests up to number ${dropped} are no longer kept.`]),
    ...(ended === undefined ? [] : [`The world has ended (${ended.reason}).`])
  ]
  return {
    log: {
      version: "1.2",
      creator: { name: "berth-server", version: pkg.version },
      comment: comments.join(" "),
      entries: journal.entries().map((recorded) => entryOf(recorded, redact, origin))
    }
  }
}

const entryOf = (recorded: Recorded, redact: Redactor, origin: string) => {
  const { at, change, durationMillis, faults, status } = recorded
  const comments = [
    ...(change === undefined ? [] : [`The world was ${change}.`]),
    ...(status === null ? ["There was no reply."] : []),
    ...(faults.length === 0 ? [] : [`Faults that fired: ${faults.join(", ")}.`])
  ]
  return {
    startedDateTime: DateTime.formatIso(DateTime.makeUnsafe(at)),
    time: durationMillis,
    request: requestOf(recorded, redact, origin),
    response: responseOf(recorded, redact),
    cache: {},
    timings: { send: 0, wait: durationMillis, receive: 0 },
    ...(comments.length === 0 ? {} : { comment: comments.join(" ") })
  }
}

const requestOf = (recorded: Recorded, redact: Redactor, origin: string) => {
  const { body, bodyBytes, method, url } = recorded
  const [path, search = ""] = url.split(/\?(.*)/s, 2) as [string, string?]
  const queryString = Array.from(new URLSearchParams(search), ([name, value]) => ({
    name: redact.text(name),
    value: redact.named(name, value)
  }))
  const query = new URLSearchParams(queryString.map(({ name, value }) => [name, value])).toString()
  return {
    method,
    url: `${addressOf(redact.text(path), origin)}${query === "" ? "" : `?${query}`}`,
    httpVersion,
    queryString,
    ...(body === undefined ? {} : { postData: { mimeType: "application/json", ...textOf(body, bodyBytes, redact) } }),
    ...unrecorded,
    headers: headersOf(recorded.headers, redact),
    bodySize: bodyBytes
  }
}

/** Matches characters that no URL path contains. (The HTTP parser turns each byte of a target into a character.) */
const noPathCharacter = /[^\w!$&'()*+,./:;=@~%-]/gu

/** The URL of a target without its query. */
const addressOf = (path: string, origin: string): string => {
  // `OPTIONS *` has no path (RFC 9110 §9.3.7).
  if (path === "*") return origin
  const escaped = path.replaceAll(noPathCharacter, (character) =>
    character <= "\u00ff"
      ? `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`
      : encodeURIComponent(character.toWellFormed())
  )
  return `${origin}${escaped.startsWith("/") || escaped === "" ? "" : "/"}${escaped}`
}

const responseOf = ({ replyBody, replyBytes, replyHeaders, status }: Recorded, redact: Redactor) => {
  const size = replyBytes ?? replyBody?.length ?? 0
  const wasSent = status !== null
  return {
    // Viewers show a status of 0 as "no reply".
    status: status ?? 0,
    statusText: STATUS_CODES[status ?? 0] ?? "",
    httpVersion,
    headers: headersOf(replyHeaders, redact),
    content: {
      size: wasSent ? size : 0,
      mimeType: replyHeaders["content-type"] ?? "x-unknown",
      ...(wasSent && replyBody !== undefined ? textOf(replyBody, size, redact) : {})
    },
    redirectURL: "",
    ...unrecorded,
    bodySize: wasSent ? (replyBytes ?? -1) : -1
  }
}

const textOf = (kept: Uint8Array, bytes: number, redact: Redactor) => {
  const isCut = bytes > kept.length
  return {
    text: redact.body(kept, isCut),
    ...(isCut ? { comment: `Cut after ${kept.length} of ${bytes} bytes.` } : {})
  }
}
