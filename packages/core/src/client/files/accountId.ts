/**
 * What names an account where processes share something of it: a hash, from which neither the service nor the key can be read. Works where
 * there is `node:crypto`, which is loaded when it is used.
 */
import { Effect, Redacted } from "effect"
import type { Settings } from "../options/Settings.ts"
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
  /** The address by which the service is named. */
  readonly origin: string
  /** Of its API key. */
  readonly ofKey: string
  /** Of the account, if it has a name. */
  readonly ofName: string | undefined
  /** Those that other spellings of the address gave the key. */
  readonly spellings: ReadonlyArray<string>
}

/** Fails where there is no `node:crypto`. */
export const accountIds = Effect.fnUntraced(function* ({
  account,
  credentials,
  origin
}: Settings): Effect.fn.Return<AccountIds, FileFault> {
  const { createHash } = yield* Effect.tryPromise({
    try: () => import("node:crypto"),
    catch: (): FileFault => ({ message: "there is no node:crypto here" })
  })
  // 128 bits: no two accounts of one user ever meet.
  const idOf = (...parts: ReadonlyArray<string>) =>
    createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32)
  const [spelling, ...others] = spellingsOf(origin)
  const key = Redacted.value(credentials.apiKey)
  const ofKey = idOf(spelling, key)
  return {
    origin: spelling,
    ofKey,
    ofName: account === undefined ? undefined : idOf("account", spelling, account),
    spellings: Array.from(new Set(others), (other) => idOf(other, key)).filter((id) => id !== ofKey)
  }
})
