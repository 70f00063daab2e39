import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { ByteWriter } from "../../src/transport/ByteWriter.ts"

const text = (write: (writer: ByteWriter) => void) => {
  const writer = new ByteWriter()
  write(writer)
  return new TextDecoder().decode(writer.take())
}

describe("a text written as bytes", () => {
  it("holds any string as JSON writes it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(text((writer) => writer.jsonString(value))).toBe(JSON.stringify(value))
      })
    )
  })

  it("holds any whole number, padded to its width", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(20), (value, width) => {
        expect(text((writer) => writer.digits(value, width))).toBe(String(value).padStart(width, "0"))
      })
    )
  })

  it("holds nothing of one that was given up", () => {
    const writer = new ByteWriter()
    writer.ascii("half")
    writer.clear()
    writer.ascii("whole")
    expect(new TextDecoder().decode(writer.take())).toBe("whole")
  })

  it("may be longer than the buffer was, and each begins empty", () => {
    const writer = new ByteWriter()
    for (const length of [10, 200_000, 3]) {
      for (let i = 0; i < length; i++) writer.ascii("x")
      expect(writer.take().length).toBe(length)
    }
  })
})
