import { describe, expect, it } from "@effect/vitest"
import { proxyVariables } from "../../../src/client/transport/NodeTransport.ts"

describe("the proxy of the environment", () => {
  it("is none without variables, and none for this machine", () => {
    expect(proxyVariables({ HTTPS_PROXY: " " })).toEqual({
      HTTP_PROXY: undefined,
      HTTPS_PROXY: undefined,
      NO_PROXY: "localhost,127.0.0.0-127.255.255.255,127.0.0.1,[::1],::1"
    })
  })

  it("is that of the variable in lower case where there are both", () => {
    const { HTTPS_PROXY } = proxyVariables({ HTTPS_PROXY: "http://upper.test", https_proxy: "http://lower.test" })
    expect(HTTPS_PROXY).toBe("http://lower.test")
  })

  it("may be named without a scheme", () => {
    expect(proxyVariables({ HTTP_PROXY: "user:pass@proxy.test:3128" })["HTTP_PROXY"]).toBe(
      "http://user:pass@proxy.test:3128"
    )
  })

  it("is that of ALL_PROXY where none is named for the protocol", () => {
    const { HTTP_PROXY, HTTPS_PROXY } = proxyVariables({ ALL_PROXY: "all.test:1", https_proxy: "http://secure.test" })
    expect({ HTTP_PROXY, HTTPS_PROXY }).toEqual({ HTTP_PROXY: "http://all.test:1", HTTPS_PROXY: "http://secure.test" })
  })

  it("keeps the exceptions of the user", () => {
    expect(proxyVariables({ NO_PROXY: ".intern.test" })["NO_PROXY"]).toMatch(/^\.intern\.test,localhost,/)
  })

  it.each(["socks5://proxy.test", "http://proxy.test:port", "http://"])(
    "is refused where Node would ignore it: %s",
    (value) => {
      expect(() => proxyVariables({ HTTPS_PROXY: value })).toThrow("HTTPS_PROXY is not the address of an HTTP proxy")
    }
  )
})
