/** Which headers a person may add to the daemon's requests. */

/** Headers for the connection, the body and the signature are reserved for the sender. */
const own =
  /^(connection|content-length|content-type|content-encoding|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*|webhook-.*)$/

/** Why a header cannot be added, by its lower-case name; null if it can. */
export const headerProblem = (name: string): string | null =>
  !/^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)
    ? "is not a valid header name"
    : own.test(name)
      ? "is a header that berth-watch sets itself"
      : null

/** Whether a string is a valid header value. */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]{1,8192}$/.test(text)
