/**
 * The address to which a raw request is sent. Every check of a path uses this module and so judges the address that is
 * really sent.
 */
import { prefix } from "./Routes.ts"

/** The path on the service that a request is sent to, with the prefix. */
export const addressOf = (path: string) => {
  const absolute = path.startsWith("/") ? path : `/${path}`
  return absolute === prefix || absolute.startsWith(`${prefix}/`) ? absolute : `${prefix}${absolute}`
}

/** Decodes percent-encoding until none is left, because a gateway and the service behind it may each decode once. */
const decoded = (text: string): string => {
  const once = text.replace(/%([0-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return once === text ? text : decoded(once)
}

/** The same path, decoded. */
export const decodedAddress = (path: string): string => decoded(addressOf(path))
