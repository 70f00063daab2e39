/**
 * A kind of fault, all of it in one place: its name, what it does in a sentence, its options, and what it does to a request,
 * step by step. Each step is a function of the request and the reply; `injectFaults.ts` asks for them in order.
 */
import { Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type AnyFault, Scope, triggerFields } from "../faults/Fault.ts"
import type { Operation } from "../faults/operations.ts"
import type { Reply } from "../http/Exchange.ts"
import { readDurationMillis } from "../lifecycle/durationText.ts"
import type { WireFault } from "../transport/WireFault.ts"
import type { Allowance } from "../world/allowance.ts"
import type { World } from "../world/World.ts"
import type { JsonObject } from "./replyBody.ts"

/** Where a fault shows: in the reply as HTTP, on the wire, or in the meaning of a well-formed reply. */
type Family = "http" | "wire" | "semantic"

/** A fault that fires at a request. */
export interface Firing<F extends AnyFault = AnyFault> {
  readonly fault: F
  /** How often it has fired before. */
  readonly earlier: number
  /** A 32-bit number for each of the things it has to choose, labelled from 1. */
  readonly chance: (label: number) => number
}

/** The request at which a fault fires. */
export interface Occasion {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly world: World
}

/** Where the list of nodes is taken from. */
export interface ListView {
  /** The instant whose nodes are listed. */
  readonly asOf: number
  /** How many places every node has moved towards the front. */
  readonly shift: number
}

/**
 * What a fault does, by the step at which it does it, in order. `undefined` where it has nothing to do after all: it then
 * counts as not having fired.
 */
export interface FaultSteps {
  /** The request never reaches the service. */
  readonly onArrival?: () => WireFault | undefined
  /** A 429 in place of the service's: the fault sets all headers, and no allowance is spent. */
  readonly refuse?: () => Reply | undefined
  /** The allowance that the request spends instead. */
  readonly allowance?: () => Allowance | undefined
  /** An answer in place of the endpoint. It costs what a reply costs. */
  readonly answer?: () => Reply | undefined
  /** Another reply than the service's; the world may change with it. */
  readonly reply?: (reply: Reply) => Reply | undefined
  /** Another list of nodes. */
  readonly list?: (view: ListView) => ListView
  /** Another envelope than that of a success with records; `first` is the first of them. */
  readonly records?: (envelope: JsonObject, first: JsonObject) => JsonObject | undefined
  /** Other headers, or another form of the body. */
  readonly form?: (reply: Reply) => Reply | undefined
  /** What becomes of the reply on the wire; `served` is the one the service gave. */
  readonly wire?: (served: Reply, bodyBytes: number) => WireFault | undefined
  /** How late the reply comes, in milliseconds of real time. */
  readonly delayMillis?: () => number
}

interface Definition<Name extends string, Options extends Schema.Struct.Fields> {
  readonly family: Family
  readonly name: Name
  readonly summary: string
  readonly options: Options
  /** The operations at which the fault can fire at all; without it, every request. */
  readonly only?: ReadonlyArray<Operation>
  readonly steps: (
    firing: Firing<{ readonly fault: Name } & Schema.Struct.Type<Options> & Omit<AnyFault, "fault">>,
    occasion: Occasion
  ) => FaultSteps
}

const pascal = (name: string): string => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const faultKind = <const Name extends string, const Options extends Schema.Struct.Fields>({
  family,
  name,
  only,
  options,
  steps,
  summary
}: Definition<Name, Options>) => {
  const isOfKind = (firing: Firing): firing is Parameters<typeof steps>[0] => firing.fault.fault === name
  return {
    family,
    name,
    summary,
    options,
    only,
    /** What a firing does; nothing when it is of another kind. */
    steps: (firing: Firing, occasion: Occasion): FaultSteps => (isOfKind(firing) ? steps(firing, occasion) : {}),
    schema: Schema.Struct({
      fault: Schema.Literal(name),
      ...options,
      ...triggerFields,
      scope: Schema.optionalKey(Scope)
    }).annotate({ identifier: `Fault${pascal(name)}`, description: summary })
  }
}

export const flag = (description: string) => Schema.optionalKey(Schema.Boolean).annotate({ description })

/** A text of at most 255 characters that fits into a header. */
export const text = (description: string) =>
  Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[ -~]{1,255}$/))).annotate({ description })

export const choice = <const L extends ReadonlyArray<string>>(values: L, description: string) =>
  Schema.optionalKey(Schema.Literals(values)).annotate({ description: `${values.join(", ")}; ${description}` })

export const integer = (minimum: number, maximum: number, description: string) =>
  Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum, maximum }))).annotate({ description })

export const share = (description: string, maximum = 1) =>
  Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum }))).annotate({ description })

/** A duration as text, `10 seconds` or `10s`. */
const Duration = Schema.String.check(
  Schema.makeFilter((given) =>
    Option.isSome(readDurationMillis(given)) ? undefined : 'Expected a duration such as 10s or "10 seconds"'
  )
)

export const duration = (description: string) => Schema.optionalKey(Duration).annotate({ description })

/** The same, which may also be negative: `-5m`. */
export const signedDuration = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((given) =>
        Option.isSome(readDurationMillis(given.replace(/^-/, ""))) ? undefined : "Expected a duration such as 5m or -5m"
      )
    )
  ).annotate({ description })

/** Milliseconds of a duration that a schema above has let through. */
export const millis = (given: string): number =>
  given.startsWith("-") ? -millis(given.slice(1)) : Option.getOrElse(readDurationMillis(given), () => 0)
