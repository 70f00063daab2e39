/**
 * Defines a kind of fault: its name, a sentence about it, its options, and what it does at each step of a request. Each step
 * is a function of the request and the reply. `injectFaults.ts` calls the steps in order.
 */
import { Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type AnyFault, integer, Scope, triggerFields } from "../faults/Fault.ts"
import type { Operation } from "@berthkit/profile/operations"
import type { Reply } from "../http/Exchange.ts"
import { readDurationMillis } from "../lifecycle/timeText.ts"
import type { WireFault } from "../transport/WireFault.ts"
import type { Allowance } from "../world/allowance.ts"
import type { World } from "../world/World.ts"
import type { JsonObject, RecordEdit } from "./replyBody.ts"

/** A fault that is due at a request. */
export interface Firing<F extends AnyFault = AnyFault> {
  readonly fault: F
  /** Number of this request among the requests in the fault's scope and time, from 1. */
  readonly seen: number
  /** A repeatable 32-bit random number. Each random choice of a fault has its own label, from 1. */
  readonly chance: (label: number) => number
}

/** The request on which a fault fires. */
export interface Occasion {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly world: World
}

/** How a fault shows the list of nodes. */
export interface ListView {
  /** The list has the nodes of this instant. */
  readonly asOf: number
  /** By how many places every node has moved towards the front. */
  readonly shift: number
}

/** What replaces the service's reply. */
export type Instead =
  /** The request never reaches the service. */
  | { readonly _tag: "Nothing"; readonly wireFault: WireFault }
  /** A 429 with its own headers; it spends no allowance. */
  | { readonly _tag: "Refusal"; readonly reply: Reply }
  /**
   * An answer instead of the endpoint's. It costs what any reply costs. If the allowance is spent, the service sends its own 429 instead,
   * and the fault has not acted.
   */
  | { readonly _tag: "Answer"; readonly reply: Reply }

/**
 * The functions of a fault for each step, in order. If all of them return `undefined`, or something that the client would not notice, the
 * fault counts as not fired.
 */
export interface FaultSteps {
  /**
   * Answers instead of the service. The first armed fault that has an answer wins, and the steps that change the service's
   * work then do nothing.
   */
  readonly instead?: () => Instead | undefined
  /** Replaces the allowance that the request spends. */
  readonly allowance?: () => Allowance | undefined
  /**
   * Changes the world after the service has acted. Returns the reply, which may mention the change. This step runs even if
   * the reply is then lost.
   */
  readonly worldChange?: (reply: Reply) => Reply | undefined
  /** Replaces the service's reply. */
  readonly reply?: (reply: Reply) => Reply | undefined
  /** Replaces the list of nodes. */
  readonly list?: (view: ListView) => ListView
  /** Changes the records of a success, if it has any. `first` is the first record. */
  readonly records?: (first: JsonObject) => RecordEdit
  /** Changes headers, or the form of the body. */
  readonly form?: (reply: Reply) => Reply | undefined
  /**
   * What happens to the reply on the wire. `served` is the service's reply, if there is one. The first armed fault that
   * returns something decides.
   */
  readonly wire?: (served: Reply | undefined, bodyBytes: number) => WireFault | undefined
  /** Delay of the reply in milliseconds of real time. */
  readonly delayMillis?: () => number
}

interface Definition<Name extends string, Options extends Schema.Struct.Fields> {
  readonly name: Name
  readonly summary: string
  /** Default: none. */
  readonly options?: Options
  /** The operations on which the fault can fire. Default: every request. */
  readonly only?: ReadonlyArray<Operation>
  /** Rejects combinations of options. */
  readonly check?: (options: Schema.Struct.Type<Options>) => Schema.FilterOutput
  readonly steps: (
    firing: Firing<{ readonly fault: Name } & Schema.Struct.Type<Options> & Omit<AnyFault, "fault">>,
    occasion: Occasion
  ) => FaultSteps
}

/** The message in an answer that a fault gives instead of the service. */
export const failureSentence = "An armed fault answers instead of the service."

const pascal = (name: string): string => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const faultKind = <const Name extends string, const Options extends Schema.Struct.Fields = {}>({
  check = () => undefined,
  name,
  only,
  options = {} as Options,
  steps,
  summary
}: Definition<Name, Options>) => {
  const isOfKind = (firing: Firing): firing is Parameters<typeof steps>[0] => firing.fault.fault === name
  return {
    name,
    summary,
    options,
    only,
    /** The steps for a due fault; none if the fault is of another kind. */
    steps: (firing: Firing, occasion: Occasion): FaultSteps => (isOfKind(firing) ? steps(firing, occasion) : {}),
    schema: Schema.Struct({
      fault: Schema.Literal(name),
      ...options,
      ...triggerFields,
      scope: Schema.optionalKey(Scope)
    })
      .check(Schema.makeFilter((fault) => check(fault as never)))
      .annotate({ identifier: `Fault${pascal(name)}`, description: summary })
  }
}

export const flag = (description: string) => Schema.optionalKey(Schema.Boolean).annotate({ description })

/** An option that is a string of at most 255 characters, which a header may hold. */
export const text = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[ -~]{1,255}$/, { expected: "1 to 255 visible ASCII characters or spaces" }))
  ).annotate({ description })

export const choice = <const L extends ReadonlyArray<string>>(values: L, description: string) =>
  Schema.optionalKey(Schema.Literals(values)).annotate({ description: `${values.join(", ")}; ${description}` })

/** An option in seconds, up to a day. */
export const retryAfter = (description: string) => integer(0, 86_400, description)

/** A duration as text: `10 seconds` or `10s`. */
const Duration = Schema.String.check(
  Schema.makeFilter((given) =>
    Option.isSome(readDurationMillis(given)) ? undefined : 'Expected a duration such as 10s or "10 seconds"'
  )
)

export const duration = (description: string) => Schema.optionalKey(Duration).annotate({ description })

/** Like `duration`, but the duration may be negative: `-5m`. */
export const signedDuration = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((given) =>
        Option.isSome(readDurationMillis(given.replace(/^-/, ""))) ? undefined : "Expected a duration such as 5m or -5m"
      )
    )
  ).annotate({ description })

/** The milliseconds of a duration that one of these schemas has accepted. */
export const millis = (given: string): number =>
  given.startsWith("-") ? -millis(given.slice(1)) : Option.getOrElse(readDurationMillis(given), () => 0)
