/**
 * What names an account where processes share something of it: a hash, from which neither the service nor the key can be read. Works where
 * there is `node:crypto`, which is loaded when it is used.
 */
import { Effect, Redacted } from "effect"
import { builtin } from "../options/builtin.ts"
import { placeOf, type Settings } from "../options/Settings.ts"
import type { FileFault } from "./StateFiles.ts"

/** All spellings of this machine as the host of an address. A service that has the same port on one of them is the same service. */
const loopback = ["127.0.0.1", "localhost", "[::1]"]

/**
 * The spellings of an origin that are the same service, one for all of them first. What `URL` leaves apart: a dot at the end of a
 * host, which only says that the name is whole, and the names of this machine. Other hosts that lead to one address are not the same:
 * services share addresses.
 */
const spellingsOf = (origin: string): readonly [string, ...Array<string>] => {
  const { host, hostname, protocol } = new URL(origin)
  const bare = hostname.replace(/\.$/, "")
  const spelled = (name: string) => `${protocol}//${name}${host.slice(hostname.length)}`
  const [first, ...others] = loopback.includes(bare) ? loopback : [bare]
  return [spelled(first!), ...[...others, hostname].map(spelled)]
}

/** The names of an account. */
export interface AccountIds {
  /** The address by which the service is named, with the project and the location if there are any: no node is in two of these. */
  readonly origin: string
  /** Of its API key, to which the rate limit belongs. */
  readonly ofKey: string
  /** Of its API key with the project and the location, to which nodes belong. */
  readonly ofPlace: string
  /** Of the account, if it has a name, with the same. */
  readonly ofName: string | undefined
  /** Those that other spellings of the address gave the key and its place. */
  readonly spellings: ReadonlyArray<string>
}

/** Fails where there is no `node:crypto`. */
export const accountIds = Effect.fnUntraced(function* ({
  account,
  credentials,
  location,
  origin,
  project
}: Settings): Effect.fn.Return<AccountIds, FileFault> {
  const crypto = builtin("node:crypto")
  if (crypto === undefined) return yield* Effect.fail({ message: "there is no node:crypto here" })
  // 128 bits: no two accounts of one user ever meet.
  const idOf = (...parts: ReadonlyArray<string>) =>
    crypto.createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)
  const [spelling, ...others] = spellingsOf(origin)
  const key = Redacted.value(credentials.apiKey)
  const place = placeOf({ project, location })
  const ofPlace = idOf(spelling, key, ...place)
  return {
    origin: [spelling, ...place].join(" "),
    ofKey: idOf(spelling, key),
    ofPlace,
    ofName: account === undefined ? undefined : idOf("account", spelling, account, ...place),
    spellings: Array.from(new Set(others), (other) => idOf(other, key, ...place)).filter((id) => id !== ofPlace)
  }
})
