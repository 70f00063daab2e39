/**
 * A kind of fault, all of it in one place: its name, what it does in a sentence, its options, and what it does to a request,
 * step by step. Each step is a function of the request and the reply; `injectFaults.ts` asks for them in order.
 */
import { Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type AnyFault, integer, Scope, triggerFields } from "../faults/Fault.ts"
import type { Operation } from "@berthkit/learn/operations"
import type { Reply } from "../http/Exchange.ts"
import { readDurationMillis } from "../lifecycle/timeText.ts"
import type { WireFault } from "../transport/WireFault.ts"
import type { Allowance } from "../world/allowance.ts"
import type { World } from "../world/World.ts"
import type { JsonObject, RecordEdit } from "./replyBody.ts"

/** A fault that is due at a request. */
export interface Firing<F extends AnyFault = AnyFault> {
  readonly fault: F
  /** Which of the requests in its scope and time it is, from 1. */
  readonly seen: number
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

/** What comes instead of the service's reply. */
export type Instead =
  /** The request never reaches the service. */
  | { readonly _tag: "Nothing"; readonly wireFault: WireFault }
  /** A 429 that sets all its headers, and spends no allowance. */
  | { readonly _tag: "Refusal"; readonly reply: Reply }
  /**
   * An answer in place of the endpoint. It costs what a reply costs: where that is not granted, the service's own 429 comes and
   * the fault has not acted.
   */
  | { readonly _tag: "Answer"; readonly reply: Reply }

/**
 * What a fault does, by the step at which it does it, in order. Where it gives `undefined`, or what its client would not notice, it
 * counts as not having fired.
 */
export interface FaultSteps {
  /** Of the faults that answer instead of the service the first armed one does. Steps about what the service did then do nothing. */
  readonly instead?: () => Instead | undefined
  /** The allowance that the request spends instead. */
  readonly allowance?: () => Allowance | undefined
  /** Another world than the service made; gives its reply, which may name it. Also where the reply is lost. */
  readonly worldChange?: (reply: Reply) => Reply | undefined
  /** Another reply than the service's. */
  readonly reply?: (reply: Reply) => Reply | undefined
  /** Another list of nodes. */
  readonly list?: (view: ListView) => ListView
  /** Other records in a success that has any, of which `first` is the first. */
  readonly records?: (first: JsonObject) => RecordEdit
  /** Other headers, or another form of the body. */
  readonly form?: (reply: Reply) => Reply | undefined
  /** What becomes of the reply on the wire; `served` is the one the service gave, if it did. The first armed one decides. */
  readonly wire?: (served: Reply | undefined, bodyBytes: number) => WireFault | undefined
  /** How late the reply comes, in milliseconds of real time. */
  readonly delayMillis?: () => number
}

interface Definition<Name extends string, Options extends Schema.Struct.Fields> {
  readonly name: Name
  readonly summary: string
  /** Default none. */
  readonly options?: Options
  /** The operations at which the fault can fire at all; without it, every request. */
  readonly only?: ReadonlyArray<Operation>
  /** Options that do not go together. */
  readonly check?: (options: Schema.Struct.Type<Options>) => Schema.FilterOutput
  readonly steps: (
    firing: Firing<{ readonly fault: Name } & Schema.Struct.Type<Options> & Omit<AnyFault, "fault">>,
    occasion: Occasion
  ) => FaultSteps
}

/** The message of a fault's own answer. */
export const failureSentence = "A fault that is armed answers in place of the service."

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
    /** What a firing does; nothing when it is of another kind. */
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

/** A text of at most 255 characters that fits into a header. */
export const text = (description: string) =>
  Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[ -~]{1,255}$/, { expected: "1 to 255 visible ASCII characters or spaces" }))
  ).annotate({ description })

export const choice = <const L extends ReadonlyArray<string>>(values: L, description: string) =>
  Schema.optionalKey(Schema.Literals(values)).annotate({ description: `${values.join(", ")}; ${description}` })

/** Seconds, up to a day. */
export const retryAfter = (description: string) => integer(0, 86_400, description)

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
