/**
 * A fingerprint identifies an account to another program of the same user. It is a hash of the service's origin, the API
 * key, the project and the location, and reveals none of them. `berth-watch` shows the fingerprint of each account that it
 * watches, and `berth` finds its own account among these.
 */
import { createHash } from "node:crypto"
import { type ClientOptions, placeOf } from "@berthkit/core/client/options/Settings"
import { Redacted } from "effect"

/** The options that identify an account, apart from the address of its service. */
type Named = Pick<ClientOptions, "project" | "location"> & { readonly apiKey: Redacted.Redacted }

const hashOf = (origin: string, { apiKey, location, project }: Named): string =>
  createHash("sha256")
    .update(JSON.stringify([origin, Redacted.value(apiKey), ...placeOf({ project, location })]))
    .digest("hex")
    .slice(0, 32)

/** The fingerprint of the account in these options. */
export const accountFingerprint = ({
  baseUrl,
  credentials: { apiKey },
  location,
  project
}: Pick<ClientOptions, "baseUrl" | "credentials" | "project" | "location">): string =>
  hashOf(new URL(baseUrl).origin, { apiKey, project, location })

/** Names of this machine. With the same port, all of them lead to the same service. */
const loopback = ["127.0.0.1", "localhost", "[::1]"]

/**
 * The fingerprints of an account for every spelling of the service's address. A service on this machine has several
 * addresses.
 */
export const accountFingerprints = (baseUrl: string, named: Named): ReadonlySet<string> => {
  const { host, hostname, protocol } = new URL(baseUrl)
  const port = host.slice(hostname.length)
  const bare = hostname.replace(/\.$/, "")
  const names = loopback.includes(bare) ? loopback : [bare, `${bare}.`]
  return new Set(names.map((name) => hashOf(`${protocol}//${name}${port}`, named)))
}
