/**
 * The hosts that mean this machine: they are reached without a proxy, and plain http to them crosses no network. Both rules use one list,
 * so that nothing that counts as local is sent through a proxy.
 */

/** The hosts for `NO_PROXY`, in which Node accepts address ranges. */
export const loopbackHosts: ReadonlyArray<string> = [
  "localhost",
  "127.0.0.0-127.255.255.255",
  "127.0.0.1",
  "[::1]",
  "::1"
]

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether a request to this address crosses a network in plain text, so that others can read its credentials. */
export const isExposed = (address: string | URL): boolean => {
  const url = URL.parse(String(address))
  return url !== null && url.protocol === "http:" && !loopback.test(url.hostname)
}
