import { assert, describe, it } from "@effect/vitest"
import { DateTime, Equal, Hash, Schema } from "effect"
import * as fc from "fast-check"
import { allowanceFrom } from "../../src/api/AllowanceHeaders.ts"
import { address } from "../../src/api/fields/Address.ts"
import { diskGb } from "../../src/api/fields/Disk.ts"
import { integer, text, unreadable } from "../../src/api/fields/Field.ts"
import { memoryMib } from "../../src/api/fields/Memory.ts"
import { priceInr, pricePerHourInr, pricePerMonthInr } from "../../src/api/fields/Price.ts"
import { timestamp } from "../../src/api/fields/Timestamp.ts"
import { retryAfterMillis } from "../../src/api/RetryAfter.ts"

describe("a price", () => {
  for (const [wire, rupees] of [
    [3.5, 3.5],
    ["3467.50", 3467.5],
    ["1,234.50", 1234.5],
    ["1,23,456", 123_456],
    ["₹ 12", 12],
    ["12.92 INR", 12.92],
    ["Rs. 500/-", 500],
    ["0.1234567", 0.123457]
  ] as const) {
    it(`${wire} is ${rupees} rupees`, () => assert.strictEqual(priceInr(wire), rupees))
  }
  for (const wire of [
    "1e5",
    "1.234,56",
    "12-15",
    "1 234.50",
    "0x10",
    "-5",
    "free",
    "",
    null,
    {},
    "12,92",
    "1,2345",
    "0,500",
    "1,,234",
    "12.92 USD",
    "5k",
    "1.2 lakh",
    "12.92 €",
    "$12.92",
    "12.",
    ".5",
    "3.5 x",
    "1000000001",
    1e300,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "\u0661\u0662",
    "12 12",
    "Rs. Rs. 5",
    "12 per"
  ]) {
    it(`${typeof wire === "string" ? JSON.stringify(wire) : String(wire)} is unreadable, not some other price`, () =>
      assert.strictEqual(priceInr(wire), unreadable))
  }
  it("may name the period of its field, and no other", () => {
    assert.strictEqual(pricePerHourInr("Rs. 3.5/Hr"), 3.5)
    assert.strictEqual(pricePerHourInr("3.5 per hour"), 3.5)
    assert.strictEqual(pricePerMonthInr("₹1,234/month"), 1234)
    assert.strictEqual(pricePerHourInr("4715.80/month"), unreadable)
    assert.strictEqual(pricePerMonthInr("6.46/hr"), unreadable)
    assert.strictEqual(priceInr("6.46/hr"), unreadable)
  })
})

describe("an address", () => {
  const shapes: ReadonlyArray<(ip: string) => unknown> = [
    (ip) => ip,
    (ip) => [ip],
    (ip) => ({ ip_address: ip }),
    (ip) => ({ address: ip, netmask: "0.0.0.0" }),
    (ip) => [{ ip }]
  ]
  for (const wire of [
    "0.0.0.0",
    "::",
    "0.0.0.0/0",
    "0.0.0.0/32",
    "::/0",
    "[::]",
    "0:0:0:0:0:0:0:0",
    "::0",
    "::ffff:0.0.0.0",
    "000.000.000.000",
    "0",
    "",
    "  ",
    "\t",
    " 0.0.0.0 ",
    "127.0.0.1",
    "127.1.2.3",
    "127.0.0.1/8",
    "::1",
    "[::1]",
    "::1/128",
    "0:0:0:0:0:0:0:1",
    "0000::0001",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "0.0.0.1",
    "169.254.169.254",
    "fe80::",
    "fe80::1%eth0",
    "FEBF::1/64",
    "None",
    "none",
    "null",
    "N/A",
    "-",
    "--",
    "[]",
    "{}"
  ]) {
    it(`${JSON.stringify(wire)} is none, in every shape`, () => {
      for (const shape of shapes) assert.isNull(address(shape(wire)))
    })
  }
  for (const wire of [
    "10.0.0.1",
    "100.0.0.0",
    "::12",
    "fec0::",
    "fe8::",
    "12.7.0.1",
    "169.255.0.1",
    "2001:db8::1",
    "::ffff:10.0.0.1"
  ]) {
    it(`${wire} is one, in every shape`, () => {
      for (const shape of shapes) assert.strictEqual(address(shape(wire)), wire)
    })
  }
})

describe("a whole number", () => {
  it("is not a text whose digits a number would round away", () => {
    for (const wire of ["4.99999999999999999999", "1.00000000000000000001", "4.5", "9007199254740993", "4 cores"]) {
      assert.strictEqual(integer(wire), unreadable, wire)
    }
    assert.strictEqual(integer("2.0"), 2)
  })
})

describe("a size", () => {
  it("has at most as many digits as a number can hold", () => {
    for (const wire of ["9".repeat(30), `${"9".repeat(300)} GB`, 1e300]) {
      assert.strictEqual(diskGb(wire), unreadable)
      assert.strictEqual(memoryMib(wire), unreadable)
    }
  })

  it("reads the same each time, among any number of others", () => {
    const sizes = Array.from({ length: 1000 }, (_, i) => i + 1)
    for (const repeated of [1, 2]) {
      for (const size of sizes) {
        assert.strictEqual(diskGb(`${size} GB`), size, `time ${repeated}`)
        assert.strictEqual(memoryMib(`${size}.00 GB`), size * 1024, `time ${repeated}`)
        assert.strictEqual(diskGb(`${size} parsecs`), unreadable, `time ${repeated}`)
      }
    }
  })
  it("does not depend on the spaces around it", () => {
    for (const spaces of [0, 1, 10, 100, 1000]) assert.strictEqual(diskGb(`${" ".repeat(spaces)}5 GB`), 5)
  })
})

describe("a text", () => {
  it("that came as a number has its digits, all of them or none", () => {
    assert.deepStrictEqual(
      ["web", "", 7, 22.04, 2 ** 60, Number.POSITIVE_INFINITY, null, true].map((wire) => text(wire)),
      ["web", "", "7", "22.04", unreadable, unreadable, unreadable, unreadable]
    )
  })
})

describe("a timestamp", () => {
  const read = (wire: unknown) => {
    const instant = timestamp(wire)
    return instant === unreadable ? assert.fail(`${String(wire)} is unreadable`) : instant
  }
  const number = (max: number, width: number) =>
    fc.oneof(fc.integer({ min: 0, max }), fc.integer({ min: 0, max: 10 ** width - 1 })).map((n) => padded(n, width))
  const padded = (n: number, width: number) => String(n).padStart(width, "0")

  it("of the documented shape is the instant that Date.parse returns, for any digits of a day that exists", () => {
    const parts = [number(9999, 4), number(13, 2), number(32, 2), number(24, 2), number(60, 2), number(60, 2)] as const
    fc.assert(
      fc.property(...parts, fc.stringMatching(/^\d{3,9}$/), (year, month, day, hour, minute, second, fraction) => {
        const toSecond = `${year}-${month}-${day}T${hour}:${minute}:${second}`
        const exists = Number(day) <= new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
        const millis = exists ? Date.parse(`${toSecond}.${fraction.slice(0, 3)}Z`) : Number.NaN
        const wire = `${toSecond}.${fraction}Z`
        if (Number.isNaN(millis)) assert.strictEqual(timestamp(wire), unreadable, wire)
        else assert.strictEqual(DateTime.toEpochMillis(read(wire)), millis, wire)
      }),
      { numRuns: 1000 }
    )
  })
  for (const wire of ["2026-03-01 10:20:30.123Z", "2026-03-01T15:50:30.123+05:30", "2026-03-01T10:20:30.123"]) {
    it(`${wire} is the same instant in another spelling`, () =>
      assert.strictEqual(DateTime.toEpochMillis(read(wire)), Date.UTC(2026, 2, 1, 10, 20, 30, 123)))
  }
  for (const day of [
    "2026-02-29",
    "2026-02-30",
    "2026-04-31",
    "2100-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-01-00"
  ]) {
    it(`of ${day}, a day that does not exist, is unreadable in every shape`, () => {
      for (const time of ["T10:20:30.123456Z", "T10:20:30Z", " 10:20", "T10:20:30.123+05:30"]) {
        assert.strictEqual(timestamp(day + time), unreadable, day + time)
      }
    })
  }
  for (const wire of [
    "2026-03-01T10:20:30 PM",
    "2026-03-01 10:20 (noon)",
    "2026-03-01T10:20:30Z[UTC]",
    1_790_000_000
  ]) {
    it(`${wire} is unreadable, not a guess`, () => assert.strictEqual(timestamp(wire), unreadable))
  }
  it("of a leap day is that day", () =>
    assert.strictEqual(DateTime.toEpochMillis(read("2028-02-29T00:00:00Z")), Date.UTC(2028, 1, 29)))
  it("with a wrong character at any position is unreadable", () => {
    const wire = "2026-03-01T10:20:30.123456Z"
    for (let at = 0; at < wire.length; at++) {
      for (const other of ["x", "/", ":", "\u0130"]) {
        const broken = `${wire.slice(0, at)}${other}${wire.slice(at + 1)}`
        if (broken !== wire) assert.strictEqual(timestamp(broken), unreadable, broken)
      }
    }
    for (const broken of ["", "Z"]) assert.strictEqual(timestamp(broken), unreadable, broken)
  })
  it("becomes an instant equal to one that Effect makes", () => {
    const millis = Date.UTC(2026, 2, 1, 10, 20, 30, 123)
    const [ours, theirs] = [read("2026-03-01T10:20:30.123456Z"), DateTime.makeUnsafe(millis)]
    assert.isTrue(Equal.equals(ours, theirs) && Equal.equals(theirs, ours))
    assert.strictEqual(Hash.hash(ours), Hash.hash(theirs))
    assert.deepStrictEqual(ours, theirs)
    assert.strictEqual(Object.getPrototypeOf(ours), Object.getPrototypeOf(theirs))
    assert.deepStrictEqual({ ...ours }, { ...theirs })
    assert.strictEqual(JSON.stringify(ours), JSON.stringify(theirs))
    assert.strictEqual(String(ours), String(theirs))
    assert.isTrue(Schema.is(Schema.DateTimeUtc)(ours))
    assert.deepStrictEqual(DateTime.toPartsUtc(ours), DateTime.toPartsUtc(theirs))
    assert.strictEqual(DateTime.toPartsUtc(ours), DateTime.toPartsUtc(ours))
    assert.isTrue(Equal.equals(ours, theirs))
  })
})

describe("the allowance in the headers", () => {
  const headers = { "ratelimit-limit": "1200", "ratelimit-remaining": "7" }
  const now = 1_790_000_000_000
  const resetAt = (reset: string) => {
    const allowance = allowanceFrom({ ...headers, "ratelimit-reset": reset }, now)
    return allowance?.resetAt === null || allowance === null ? null : DateTime.toEpochMillis(allowance.resetAt)
  }

  it("resets at an epoch, or, below 10⁹, that many seconds from now", () => {
    assert.strictEqual(resetAt("1790000060"), now + 60_000)
    assert.strictEqual(resetAt("60"), now + 60_000)
    assert.isNull(resetAt("soon"))
  })
  it("is nothing without its numbers", () => assert.isNull(allowanceFrom({ "ratelimit-limit": "1200" }, now)))
})

describe("Retry-After", () => {
  it("in fractions of a second is never cut short", () =>
    assert.strictEqual(retryAfterMillis({ "retry-after": "0.5" }, 0), 1000))
  it("as a date is measured on the service's clock", () => {
    const headers = { date: "Fri, 20 Nov 2026 10:00:00 GMT", "retry-after": "Fri, 20 Nov 2026 10:00:30 GMT" }
    assert.strictEqual(retryAfterMillis(headers, 0), 30_000)
  })
})
