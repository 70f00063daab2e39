import { assert, describe, it } from "@effect/vitest"
import {
  isQuietAtLast,
  isQuietElsewhere,
  isSameNode,
  isSpelling,
  kinshipOf,
  spellingGroup
} from "../../../src/client/creation/Ownership.ts"

const long = "customer-production-frontend-web-server-in-delhi-number-12"

describe("a name", () => {
  for (const [asked, shown, what] of [
    ["Web", "web", "in small letters"],
    ["web_1", "web-1", "with - for _"],
    ["web 1", "web-1", "with - for a space"],
    ["web_ _1", "web-1", "with one - for a run"],
    ["web--1", "web-1", "with one - for several"],
    ["  web ", "web", "trimmed"],
    ["-web-", "web", "without - around it"],
    ["cafe\u0301", "caf\u00e9", "composed"],
    ["caf\u00e9", "cafe\u0301", "decomposed"],
    ["ﬁle\uff11", "file1", "in the compatible form"],
    ["Straße", "STRASSE", "in capitals"],
    ["ΟΔΟΣ", "οδος", "in small letters, with a sigma at its end"],
    [long, long.slice(0, 50), "cut"],
    [`${long.slice(0, 48)}__${long}`, `${long.slice(0, 48)}-`, "cut at what separates"],
    [`${long.slice(0, 49)}e\u0301`, `${long.slice(0, 49)}e`, "cut within a letter"]
  ] as const) {
    it(`may be shown ${what}`, () => {
      assert.isTrue(isSpelling(shown, asked))
      assert.strictEqual(spellingGroup(shown), spellingGroup(asked))
    })
  }

  for (const [asked, shown] of [
    ["web-1", "web-2"],
    ["web-12", "web-1"],
    ["web-1", "web-12"],
    ["web", "db"],
    ["web-1", "web1"],
    [long, long.slice(0, 30)],
    [long.slice(0, 50), long]
  ] as const) {
    it(`is not shown as another: ${asked} as ${shown}`, () => assert.isFalse(isSpelling(shown, asked)))
  }
})

describe("a node that was proved", () => {
  const proof = { id: 7, name: "web_1", createdMillis: 1000 }

  it("is itself with its id and its creation, however its name is spelled", () => {
    for (const over of [{}, { name: "WEB 1" }, { createdMillis: 2700 }, { createdMillis: null }]) {
      assert.isTrue(isSameNode(proof, { ...proof, ...over }))
      assert.isTrue(isSameNode({ ...proof, ...over }, proof))
    }
  })

  it("is not with another id, name or creation", () => {
    for (const over of [{ id: 8 }, { name: "web-2" }, { createdMillis: 9000 }]) {
      assert.isFalse(isSameNode(proof, { ...proof, ...over }))
    }
  })
})

describe("a node made in the time of a lost create", () => {
  const minute = 60_000
  /** An instant `millis` after the send, by the clock of the boot and by the service's. */
  const after = (bootMillis: number, serviceMillis = bootMillis, bootClock = "boot") => ({
    wallMillis: bootMillis,
    bootMillis,
    bootClock,
    serviceMillis: 1_000_000_000 + serviceMillis
  })
  const asked = { name: "web", plan: "P", image: "I", newerThan: 10, sentAt: after(0) }
  /** A node that was made some time after the send, on the service's clock at that time. */
  const made = (millis: number) => ({
    id: 11,
    name: "web",
    plan: "P",
    image: "I",
    createdMillis: 1_000_000_000 + millis
  })

  it("is the create's", () => {
    assert.strictEqual(kinshipOf(asked, made(1000), after(minute)), "proven")
    assert.strictEqual(kinshipOf(asked, made(1000), after(60 * minute)), "proven")
    assert.strictEqual(kinshipOf(asked, made(600_000), after(11 * minute)), "proven")
    assert.strictEqual(kinshipOf(asked, made(640_000), after(11 * minute)), "none")
  })

  it("may be the create's if its name has the same letters and digits", () => {
    for (const [name, shown] of [
      ["a_b", "ab"],
      ["web-1", "web1"],
      ["web.1", "web-1"],
      ["größe-1", "gre-1"],
      [`a.${long}`, `a${long}`.slice(0, 50)]
    ] as const) {
      const node = { ...made(1000), name: shown }
      assert.strictEqual(kinshipOf({ ...asked, name }, node, after(minute)), "differs")
      assert.strictEqual(kinshipOf({ ...asked, name }, { ...node, name: `${shown}2` }, after(minute)), "none")
      assert.strictEqual(kinshipOf({ ...asked, name }, { ...node, createdMillis: 1 }, after(minute)), "none")
      assert.strictEqual(kinshipOf({ ...asked, name }, made(640_000), after(11 * minute)), "none")
    }
  })

  // Somebody else makes a node eleven and a half minutes after the send. Before that, the service's clock was set back by two minutes.
  it("is not the create's for certain if it only seems to be in time, because the service's clock went back", () =>
    assert.strictEqual(kinshipOf(asked, made(570_000), after(700_000, 580_000)), "possible"))

  it("is the create's if the clock went back before it was read and there is time for that", () =>
    assert.strictEqual(kinshipOf(asked, made(1000), after(5 * minute, 3 * minute)), "proven"))

  it("is the create's if the machine slept meanwhile", () =>
    assert.strictEqual(kinshipOf(asked, made(1000), after(minute, 60 * minute)), "proven"))

  it("is judged by the service's clock alone on another machine", () =>
    assert.strictEqual(kinshipOf(asked, made(570_000), after(700_000, 580_000, "other")), "proven"))
})

describe("a create that the service can no longer process", () => {
  const minute = 60_000
  const boot = { bootMillis: 0, bootClock: "boot" }
  const at = (minutes: number, more = {}) => ({
    wallMillis: minutes * minute,
    serviceMillis: 0,
    bootMillis: minutes * minute,
    bootClock: "boot",
    ...more
  })

  it("is one of another machine eleven minutes later by the service's clock, or 26 by the wall clock", () => {
    const told = (isOfService: boolean) => ({ millis: minute, isOfService })
    const served = (minutes: number) => at(minutes + 1, { serviceMillis: (minutes + 1) * minute })
    const walled = (minutes: number) => at(minutes + 1)
    assert.deepStrictEqual(
      [
        isQuietElsewhere(told(true), served(10)),
        isQuietElsewhere(told(true), served(11)),
        isQuietElsewhere(told(false), served(25)),
        isQuietElsewhere(told(false), walled(25)),
        isQuietElsewhere(told(false), walled(26)),
        // The other machine recorded the service's time, but the service states none now.
        isQuietElsewhere(told(true), walled(25)),
        isQuietElsewhere(told(true), walled(26))
      ],
      [false, true, false, false, true, false, true]
    )
  })

  it("is one of this boot, or with the service's time, after eleven minutes", () => {
    const served = { serviceMillis: minute, ...boot, bootClock: "earlier" }
    assert.deepStrictEqual(
      [
        isQuietAtLast(at(0), at(10)),
        isQuietAtLast(at(0), at(11)),
        isQuietAtLast(at(0, served), at(10, { serviceMillis: 11 * minute })),
        isQuietAtLast(at(0, served), at(0, { serviceMillis: 12 * minute }))
      ],
      [false, true, false, true]
    )
  })

  it("is otherwise one of an earlier boot after 26 minutes by the wall clock, if this boot has lasted for eleven", () => {
    const sent = at(0, { bootClock: "earlier" })
    assert.deepStrictEqual(
      [
        isQuietAtLast(sent, at(25)),
        isQuietAtLast(sent, at(26)),
        // A machine whose wall clock was not set when it sent the create, and is set now.
        isQuietAtLast(sent, at(10_000_000, { bootMillis: 10 * minute })),
        isQuietAtLast(sent, at(10_000_000, { bootMillis: 11 * minute })),
        // The boot is not known.
        isQuietAtLast(at(0, { bootClock: null }), at(25, { bootClock: null, bootMillis: 0 })),
        isQuietAtLast(at(0, { bootClock: null }), at(26, { bootClock: null, bootMillis: 0 }))
      ],
      [false, true, false, true, false, true]
    )
  })
})
