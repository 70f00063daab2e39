/**
 * Computes the ids of an account for shared storage: hashes that reveal neither the service nor the key. Needs `node:crypto`, which is
 * loaded on use.
 */
import { Effect, Redacted } from "effect"
import { builtin } from "../options/builtin.ts"
import { placeOf, type Settings } from "../options/Settings.ts"
import { FileFault } from "./StateFiles.ts"

/** The names of this machine as a host. A service with the same port under any of these names is the same service. */
const loopback = ["127.0.0.1", "localhost", "[::1]"]

/**
 * Returns one spelling for all origins that mean the same service. `URL` leaves two differences: a dot at the end of a host, and the
 * names of this machine. Other hosts with the same IP address are different services, because services share addresses.
 */
const canonical = (origin: string): string => {
  const { host, hostname, protocol } = new URL(origin)
  const bare = hostname.replace(/\.$/, "")
  return `${protocol}//${loopback.includes(bare) ? loopback[0] : bare}${host.slice(hostname.length)}`
}

/** The ids of an account. */
export interface AccountIds {
  /** The address of the service, with the project and location if set. Every node belongs to exactly one such place. */
  readonly origin: string
  /** The id of the account's API key, to which the rate limit belongs. */
  readonly ofKey: string
  /** The id of the account's API key with project and location, to which nodes belong. */
  readonly ofPlace: string
  /** The id of the account's name, if it has one, with project and location. */
  readonly ofName: string | undefined
}

/** Fails without `node:crypto`. */
export const accountIds = Effect.fnUntraced(function* ({
  account,
  credentials,
  location,
  origin,
  project
}: Settings): Effect.fn.Return<AccountIds, FileFault> {
  const crypto = builtin("node:crypto")
  if (crypto === undefined) return yield* new FileFault({ message: "there is no node:crypto here" })
  // 128 bits are enough to keep one user's accounts distinct.
  const idOf = (...parts: ReadonlyArray<string>) =>
    crypto.createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)
  const service = canonical(origin)
  const key = Redacted.value(credentials.apiKey)
  const place = placeOf({ project, location })
  return {
    origin: [service, ...place].join(" "),
    ofKey: idOf(service, key),
    ofPlace: idOf(service, key, ...place),
    ofName: account === undefined ? undefined : idOf("account", service, account, ...place)
  }
})
