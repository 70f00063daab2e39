/**
 * Decides whether an event may be sent to an address. Unless the config allows them, this machine, its private networks and a cloud's
 * metadata service are refused. A name is resolved only once, and the connection uses the address that was checked.
 */
import { lookup, type LookupAddress } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

const privateRanges = new BlockList()
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
] as const) {
  privateRanges.addSubnet(network, prefix, "ipv4")
}
// In IPv6 only global unicast addresses are public, except the ranges that embed an IPv4 address (6to4, Teredo, NAT64).
const publicRange = new BlockList()
publicRange.addSubnet("2000::", 3, "ipv6")
for (const [network, prefix] of [
  ["2001::", 32],
  ["2002::", 16]
] as const) {
  privateRanges.addSubnet(network, prefix, "ipv6")
}

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

export const isPrivateAddress = (address: string): boolean => {
  const inner = mapped.exec(address)?.[1]
  if (inner !== undefined) return isPrivateAddress(inner)
  if (isIP(address) === 4) return privateRanges.check(address, "ipv4")
  return !publicRange.check(address, "ipv6") || privateRanges.check(address, "ipv6")
}

/** Whether a host can only be this machine or in its networks, whatever a resolver answers. */
export const isPrivateHost = (host: string): boolean =>
  isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : isPrivateAddress(host)

/** The literal address in a URL; null if it has a name. */
export const literalAddress = ({ hostname }: URL): string | null => {
  const address = hostname.replace(/^\[|\]$/g, "")
  return isIP(address) === 0 ? null : address
}

/** Whether a URL can only lead to this machine or its networks, whatever a resolver answers. */
export const isPrivateUrl = (url: URL): boolean => isPrivateHost(literalAddress(url) ?? url.hostname)

/** Resolves a name to all of its addresses. */
export type Resolve = (
  name: string,
  callback: (error: Error | null, addresses: ReadonlyArray<LookupAddress>) => void
) => void

export const systemResolve: Resolve = (name, callback) => lookup(name, { all: true }, callback)

export class PrivateAddress extends Error {
  readonly code = "EPRIVATE"
}

/** A resolver for connections that returns only allowed addresses. */
export const checkedLookup =
  (resolve: Resolve): LookupFunction =>
  (name, options, callback) =>
    resolve(name, (error, addresses) => {
      const allowed = addresses?.filter(({ address }) => !isPrivateAddress(address)) ?? []
      const [first] = allowed
      if (error !== null) callback(error, "")
      else if (first === undefined) callback(new PrivateAddress(`${name} has private addresses only`), "")
      else if (options.all === true) callback(null, allowed as Array<LookupAddress>)
      else callback(null, first.address, first.family)
    })
