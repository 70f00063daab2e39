import * as Berth from "@berthkit/core/promise"
import {
  type Aborted,
  BerthError,
  type Client,
  type Failure,
  InvalidOption,
  isBerthError,
  isKnownStatus,
  type KnownStatus,
  NodeNotFound,
  type NodeStatus,
  type ServiceFault,
  type StatusNotReached
} from "@berthkit/core/promise"
import type { ErrorReason, FieldsOf } from "../../src/domain/ErrorReason.ts"
import { describe, expectTypeOf, it } from "@effect/vitest"

// The compiler checks these; none of them runs.
const thrown = undefined as unknown
const failure = undefined as unknown as Failure
const checkOnly = (_types: () => void) => {}

/** All classes of errors, except their base class. */
type Classes = {
  [
    Name in keyof typeof Berth as (typeof Berth)[Name] extends new (...args: never) => BerthError ? Name : never
  ]: (typeof Berth)[Name] extends new (...args: never) => infer E ? E : never
}

/** Fields that a class declares, and the reason of the domain with its tag does not have. */
type Surplus = {
  [Reason in ErrorReason as Reason["_tag"]]: Exclude<
    keyof Extract<Failure, { readonly _tag: Reason["_tag"] }>,
    keyof BerthError | keyof FieldsOf<Reason>
  >
}[ErrorReason["_tag"]]

describe("what the compiler knows of an error", () => {
  it("is no field that the error does not have", () => {
    expectTypeOf<Surplus>().toEqualTypeOf<never>()
  })

  it("is which class a tag is, with the fields of it and no others", () => {
    checkOnly(() => {
      switch (failure._tag) {
        default:
          return
        case "NodeNotFound":
          expectTypeOf(failure).toEqualTypeOf<NodeNotFound>()
          expectTypeOf(failure.nodeId).toEqualTypeOf<number>()
          // @ts-expect-error a node that is not found has no candidates
          return void failure.candidates
        case "OutcomeUnknown":
          return expectTypeOf(failure.candidates).toEqualTypeOf<ReadonlyArray<number>>()
        case "InvalidRequest":
          expectTypeOf(failure.status).toEqualTypeOf<number | null>()
          return expectTypeOf(failure.fields).toEqualTypeOf<Readonly<Record<string, ReadonlyArray<string>>>>()
        case "ServiceFault":
          expectTypeOf(failure.status).toEqualTypeOf<number>()
          return expectTypeOf(failure.retryAfterMillis).toEqualTypeOf<number | null>()
        case "Unreachable":
          return expectTypeOf(failure.sent).toEqualTypeOf<"no" | "maybe" | "yes">()
        case "Aborted":
          return expectTypeOf(failure).toEqualTypeOf<Aborted>()
        case "InvalidOption":
          return expectTypeOf(failure.option).toEqualTypeOf<string>()
        // @ts-expect-error there is no such tag
        case "NodeMissing":
          return
      }
    })
  })

  it("is every tag: a `switch` over all of them leaves nothing", () => {
    checkOnly(() => {
      switch (failure._tag) {
        case "Unauthorized":
        case "Forbidden":
        case "NodeNotFound":
        case "PathNotFound":
        case "InvalidRequest":
        case "Conflict":
        case "PreconditionFailed":
        case "RateLimited":
        case "WouldExceedDeadline":
        case "ServiceUnavailable":
        case "ServiceFault":
        case "Unreachable":
        case "TimedOut":
        case "StatusNotReached":
        case "CircuitOpen":
        case "OutcomeUnknown":
        case "StateUnavailable":
        case "UnexpectedResponse":
        case "InvalidOption":
        case "RuntimeTooOld":
        case "Aborted":
        case "ClientClosed":
        case "ClientFault":
          return
        default:
          expectTypeOf(failure).toBeNever()
      }
    })
  })

  it("is what `isBerthError` and `instanceof` narrow anything that is thrown to", () => {
    checkOnly(() => {
      // @ts-expect-error nothing is known of what is thrown
      void thrown._tag
      if (isBerthError(thrown)) {
        expectTypeOf(thrown).toEqualTypeOf<Failure>()
        if (thrown._tag === "ServiceFault") expectTypeOf(thrown).toEqualTypeOf<ServiceFault>()
      }
      if (thrown instanceof NodeNotFound) expectTypeOf(thrown.nodeId).toEqualTypeOf<number>()
      if (thrown instanceof BerthError) {
        expectTypeOf(thrown.status).toEqualTypeOf<number | null>()
        // @ts-expect-error whichever it is, it need not name a node
        void thrown.nodeId
      }
      if (failure instanceof InvalidOption) expectTypeOf(failure).toEqualTypeOf<InvalidOption>()
      else expectTypeOf(failure._tag).toEqualTypeOf<Exclude<Failure["_tag"], "InvalidOption">>()
    })
  })

  it("is that every class is one of them, and that all have the same beginning", () => {
    expectTypeOf<Classes[keyof Classes]>().toEqualTypeOf<Failure>()
    expectTypeOf<keyof Classes>().toEqualTypeOf<Failure["_tag"]>()
    expectTypeOf<Failure>().toExtend<BerthError>()
    expectTypeOf<BerthError>().not.toExtend<Failure>()
    expectTypeOf<Failure["requestId"]>().toEqualTypeOf<string | null>()
  })
})

describe("what the compiler knows of a status", () => {
  it("is the known ones, and that there may be others", () => {
    checkOnly(() => {
      const status = undefined as unknown as Awaited<ReturnType<Client["nodes"]["get"]>>["status"]
      expectTypeOf(status).toEqualTypeOf<NodeStatus>()
      expectTypeOf(status.length).toEqualTypeOf<number>()
      expectTypeOf<StatusNotReached["last"]>().toEqualTypeOf<NodeStatus>()
      expectTypeOf<StatusNotReached["seen"]>().toEqualTypeOf<ReadonlyArray<NodeStatus>>()
      // @ts-expect-error it need not be a known one
      const known: KnownStatus = status
      if (isKnownStatus(status)) expectTypeOf(status).toExtend<KnownStatus>()
      return known
    })
  })
})
