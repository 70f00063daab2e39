/** The proxy that the environment names for `node:http` and `node:https`: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`. */
import { loopbackHosts } from "./loopback.ts"

type Environment = Readonly<Record<string, string | undefined>>

const read = (environment: Environment, name: string): string | undefined =>
  (environment[name.toLowerCase()] ?? environment[name])?.trim() || undefined

/** An address without a scheme is one of HTTP, as in curl. Node ignores what it cannot use: requests would go past the proxy. */
const address = (environment: Environment, name: string): string | undefined => {
  const given = read(environment, name)
  if (given === undefined) return undefined
  const url = given.includes("://") ? given : `http://${given}`
  if (/^https?:/i.test(url) && URL.canParse(url)) return url
  // The value may hold a password.
  throw new Error(`${name} is not the address of an HTTP proxy`)
}

/**
 * The variables for an agent; those in lower case come first. A service on this machine, such as a mock, is never reached through a
 * proxy. Throws where a variable is no address.
 */
export const proxyVariables = (environment: Environment): Record<string, string | undefined> => ({
  HTTP_PROXY: address(environment, "HTTP_PROXY"),
  HTTPS_PROXY: address(environment, "HTTPS_PROXY"),
  NO_PROXY: [read(environment, "NO_PROXY") ?? [], loopbackHosts].flat().join(",")
})
