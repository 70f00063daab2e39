import { describe, expect, it } from "@effect/vitest"
import { isPrivateAddress, isPrivateUrl } from "../../../src/deliver/webhook/addressCheck.ts"

describe("an address", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:0:1::"
  ])("%s is private", (address) => {
    expect(isPrivateAddress(address)).toBe(true)
  })

  it.each(["1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1"])(
    "%s is public",
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    }
  )

  it.each([
    ["http://localhost:80/", true],
    ["http://api.localhost/", true],
    ["http://[::1]/", true],
    // URL parsers read all of these as 127.0.0.1.
    ["http://2130706433/", true],
    ["http://0x7f.1/", true],
    ["http://127.1/", true],
    ["https://localhost.example.com/", false],
    ["https://hooks.example.com/", false]
  ])("in %s is private: %s", (url, expected) => {
    expect(isPrivateUrl(new URL(url))).toBe(expected)
  })
})
