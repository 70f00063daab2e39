/**
 * Makes the profile of a service from evidence. It holds what the mock needs to behave like the service. Every text in it
 * has passed the redactor.
 */
import { Schema } from "effect"
import { operations } from "@berthkit/profile/operations"
import { Behaviour, format, type Profile, situations } from "@berthkit/profile/Profile"
import { isObject } from "@berthkit/profile/values"
import type { Exchange } from "./observe/Exchange.ts"
import { listIn } from "./observe/Exchange.ts"
import { judge } from "./claims.ts"
import { type Claim, observe } from "./observe/Claim.ts"
import { failureOf, failures, refusals } from "./observe/failures.ts"
import { images, wholeList } from "./observe/images.ts"
import { type Durations, ghosts, life, otherStatuses, provisioning, statuses, termination } from "./observe/life.ts"
import { paging } from "./observe/paging.ts"
import { envelopeOf, recordShape, successes } from "./observe/records.ts"
import { clockSkewMillis, isBucket, window } from "./observe/window.ts"
import type { Evidence } from "./readEvidence.ts"
import { hideInJson } from "@berthkit/core/domain/namedSecrets"

/** An object without its undefined fields. */
const known = <A extends object>(fields: A): { [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]: Exclude<A[K], undefined>
  }

/** An object with the value of each name that has one. */
const byName = <Name extends string, A>(names: ReadonlyArray<Name>, of: (name: Name) => A | undefined) =>
  known(Object.fromEntries(names.map((name) => [name, of(name)]))) as { readonly [K in Name]?: A }

/** Maximum number of durations that a profile keeps. If there are more, it keeps every nth. */
const maxSamples = 500

const thinned = <A>(sorted: ReadonlyArray<A>): ReadonlyArray<A> | undefined => {
  if (sorted.length === 0) return undefined
  if (sorted.length <= maxSamples) return sorted
  return Array.from(
    { length: maxSamples },
    (_, at) => sorted[Math.round((at * (sorted.length - 1)) / (maxSamples - 1))]!
  )
}

const rangesOf = (durations: Durations) =>
  thinned(
    durations
      .map(({ value: { max, min } }) => ({ min: Math.round(min), max: Math.round(max) }))
      .toSorted((a, b) => a.max - b.max)
  )

/**
 * An observed reaction without the status of a refusal, for parts of the profile that do not need it; undefined if unknown.
 */
const withoutStatus = <A extends string>(seen: number | A | undefined): A | "refused" | undefined =>
  typeof seen === "number" ? "refused" : seen

/** `refused` if the service refused a bad request, otherwise the given reaction; undefined if unknown. */
const refusedOr = <A extends string>(seen: number | string | undefined, otherwise: A) =>
  seen === undefined ? undefined : typeof seen === "number" ? ("refused" as const) : otherwise

/** Looks up the observed value of a claim. */
type Values = <A>(claim: Claim<A>) => A | undefined

const pagingOf = (value: Values) => {
  const largest = value(paging.maxPageSize)
  const beyond = value(paging.tooLarge)
  const order = value(paging.order)
  const standard = value(paging.defaultSize)
  const isNumberFirst = value(paging.winner)
  const isCapped = typeof beyond === "number" || (typeof largest === "number" && largest < 100)
  return known({
    defaultSize: typeof standard === "number" ? standard : undefined,
    maximumSize: typeof beyond === "number" ? beyond : typeof largest === "number" ? largest : undefined,
    tooLarge: isCapped ? ("capped" as const) : typeof beyond === "string" ? beyond : undefined,
    outOfBounds: refusedOr(value(paging.outOfBounds), "first"),
    malformed: refusedOr(value(failures.malformed), "first"),
    order: order === "neither" ? undefined : order,
    pastTheEnd: value(paging.pastTheEnd),
    pageAlias: value(paging.alias),
    winner: isNumberFirst === undefined ? undefined : isNumberFirst ? ("page_no" as const) : ("page" as const),
    twice: withoutStatus(value(paging.twice))
  })
}

const windowOf = (value: Values, evidence: ReadonlyArray<Exchange>) =>
  known({
    limit: value(window.limit),
    algorithm: value(window.algorithm),
    windowMillis: value(window.length),
    bucket: isBucket(evidence),
    reset: value(window.reset),
    onSuccess: value(window.onSuccess),
    onFailure: value(window.onFailure)
  })

const imagesOf = (value: Values) => {
  const anyCase = value(images.anyCase)
  return known({
    unknownType: withoutStatus(value(images.unknownType)),
    caseMatters: anyCase === undefined ? undefined : !anyCase,
    narrows: value(images.narrows),
    noMatch: withoutStatus(value(images.noMatch))
  })
}

const contentTypeOf = (evidence: ReadonlyArray<Exchange>): string | undefined =>
  operations.flatMap((operation) => successes(evidence, operation))[0]?.headers["content-type"]

/** The behaviour of the service, as far as the evidence shows it. */
const behaviourOf = (evidence: ReadonlyArray<Exchange>, failing: ReadonlyArray<string>): Behaviour => {
  const value: Values = (claim) => observe(claim, evidence)?.value
  const list = wholeList(evidence)
  return known({
    contentType: contentTypeOf(evidence),
    envelopes: byName(operations, (operation) => envelopeOf(evidence, operation)),
    records: byName(operations, (operation) => recordShape(evidence, operation)),
    failures: byName(situations, (situation) => {
      const refusal = refusals(evidence).get(situation)
      return refusal && failureOf(refusal)
    }),
    statuses: statuses(evidence),
    paging: pagingOf(value),
    deletes: value(life.deleteReply),
    otherStatuses: otherStatuses(evidence),
    provisioningMillis: rangesOf(provisioning(evidence)),
    terminationMillis: rangesOf(termination(evidence)),
    ghostMillis: thinned(
      ghosts(evidence)
        .map(({ value }) => Math.round(value))
        .toSorted((a, b) => a - b)
    ),
    window: windowOf(value, evidence),
    clockSkewMillis: clockSkewMillis(evidence),
    location: value(life.createReply)?.endsWith("with Location"),
    failing: failing.length === 0 ? undefined : failing,
    images: imagesOf(value),
    catalogue: list && (listIn(list) as Behaviour["catalogue"])
  }) as Behaviour
}

const isBehaviour = Schema.is(Behaviour)

const nothing: Behaviour = {
  envelopes: {},
  records: {},
  failures: {},
  statuses: {},
  paging: {},
  window: {},
  images: {}
}

/**
 * Keeps only the parts that a profile may hold. A part outside the bounds, such as a limit of 10¹², counts as not observed.
 */
const fitting = (behaviour: object): Behaviour => {
  const fits = (part: object) => isBehaviour({ ...nothing, ...part })
  const parts = Object.entries(behaviour).flatMap(([name, value]) => {
    if (fits({ [name]: value })) return [[name, value] as const]
    if (!isObject(value)) return []
    return [
      [
        name,
        Object.fromEntries(Object.entries(value).filter(([key, one]) => fits({ [name]: { [key]: one } })))
      ] as const
    ]
  })
  return { ...nothing, ...Object.fromEntries(parts.filter(([name, value]) => fits({ [name]: value }))) }
}

export const profileOf = ({ exchanges, redact, unanswered }: Evidence): Profile => {
  const findings = judge(exchanges).map(({ assumption, claim, observed, of, verdict }) =>
    known({ assumption, claim, verdict, observed, of })
  )
  const { behaviour, ...rest } = hideInJson(
    { format, exchanges: exchanges.length, behaviour: behaviourOf(exchanges, unanswered?.failing ?? []), findings },
    redact
  ) as Profile
  return { ...rest, behaviour: fitting(behaviour) }
}
