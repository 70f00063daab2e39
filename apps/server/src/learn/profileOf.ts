/**
 * The profile of a service, from evidence of it: what the mock needs to behave as observed. Every text in it has been through the
 * redactor.
 */
import { Schema } from "effect"
import { Behaviour, format, operationNames, type Profile, situations } from "../profile/Profile.ts"
import { isObject } from "../profile/values.ts"
import type { Exchange } from "./observe/Exchange.ts"
import { listIn } from "./observe/Exchange.ts"
import { judge } from "./judge.ts"
import * as Failures from "./observe/failures.ts"
import * as Images from "./observe/images.ts"
import * as Life from "./observe/life.ts"
import * as Other from "./observe/other.ts"
import * as Paging from "./observe/paging.ts"
import * as Records from "./observe/records.ts"
import * as Window from "./observe/window.ts"
import { type Evidence, redactJson } from "./readEvidence.ts"

/** An object without the fields that are undefined. */
const known = <A extends object>(fields: A): { [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]: Exclude<A[K], undefined>
  }

/** Durations kept, at most: of more every so-manieth. */
const maxSamples = 500

const samplesOf = (durations: Life.Durations): ReadonlyArray<number> | undefined => {
  if (durations.length === 0) return undefined
  const sorted = durations.map(({ value }) => Math.round(value)).toSorted((a, b) => a - b)
  if (sorted.length <= maxSamples) return sorted
  return Array.from(
    { length: maxSamples },
    (_, at) => sorted[Math.round((at * (sorted.length - 1)) / (maxSamples - 1))]!
  )
}

const pagingOf = (evidence: ReadonlyArray<Exchange>) => {
  const largest = Paging.maxPageSize(evidence)?.value
  const beyond = Paging.tooLarge(evidence)?.value
  const outOf = Paging.outOfBounds(evidence)?.value
  const malformed = Paging.malformed(evidence)?.value
  const order = Paging.order(evidence)?.value
  const isCapped = typeof beyond === "number" || (typeof largest === "number" && largest < 100)
  return known({
    defaultSize: Paging.defaultSize(evidence)?.value,
    maximumSize: typeof beyond === "number" ? beyond : typeof largest === "number" ? largest : undefined,
    tooLarge: isCapped ? ("capped" as const) : typeof beyond === "string" ? beyond : undefined,
    outOfBounds: outOf === undefined ? undefined : outOf === "first" ? ("first" as const) : ("refused" as const),
    malformed: malformed === undefined ? undefined : malformed === "first" ? ("first" as const) : ("refused" as const),
    order: order === "neither" ? undefined : order,
    pastTheEnd: Paging.pastTheEnd(evidence)?.value,
    pageAlias: Paging.alias(evidence)?.value
  })
}

const windowOf = (evidence: ReadonlyArray<Exchange>) =>
  known({
    limit: Window.limit(evidence)?.value,
    algorithm: Window.window(evidence)?.value.algorithm,
    windowMillis: Window.windowLength(evidence)?.value,
    bucket: Window.bucket(evidence)?.value,
    reset: Window.resetForm(evidence)?.value,
    onSuccess: Window.headersOn("success")(evidence)?.value,
    onFailure: Window.headersOn("failure")(evidence)?.value
  })

const imagesOf = (evidence: ReadonlyArray<Exchange>) => {
  const unknown = Images.unknownType(evidence)?.value
  const anyCase = Images.anyCase(evidence)?.value
  return known({
    unknownType: typeof unknown === "number" ? ("refused" as const) : unknown,
    caseMatters: anyCase === undefined ? undefined : !anyCase
  })
}

const contentTypeOf = (evidence: ReadonlyArray<Exchange>): string | undefined =>
  operationNames.flatMap((operation) => Records.successes(evidence, operation))[0]?.headers["content-type"]

/** How the service behaves, as far as the evidence shows. */
const behaviourOf = (evidence: ReadonlyArray<Exchange>): Behaviour => {
  const refusals = Failures.refusals(evidence)
  const create = Other.createReply(evidence)
  const list = Images.wholeList(evidence)
  return known({
    contentType: contentTypeOf(evidence),
    envelopes: known(
      Object.fromEntries(operationNames.map((name) => [name, Records.envelopeOf(evidence, name)]))
    ) as Behaviour["envelopes"],
    records: known(
      Object.fromEntries(operationNames.map((name) => [name, Records.recordShape(evidence, name)]))
    ) as Behaviour["records"],
    failures: known(
      Object.fromEntries(
        situations.map((name) => {
          const refusal = refusals.get(name)
          return [name, refusal && Failures.failureOf(refusal)]
        })
      )
    ) as Behaviour["failures"],
    statuses: Life.statuses(evidence),
    paging: pagingOf(evidence),
    deletes: Life.deleteReply(evidence)?.value,
    provisioningMillis: samplesOf(Life.provisioning(evidence)),
    terminationMillis: samplesOf(Life.termination(evidence)),
    ghostMillis: samplesOf(Life.ghosts(evidence)),
    window: windowOf(evidence),
    clockSkewMillis: Window.clockSkew(evidence)?.value,
    location: create === undefined ? undefined : create.value.endsWith("with Location"),
    images: imagesOf(evidence),
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

/** What a reader of profiles takes: a part that is beyond its bounds, such as a limit of 10¹², counts as not observed. */
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

export const profileOf = ({ exchanges, redact }: Evidence): Profile => {
  const findings = judge(exchanges).map(({ assumption, claim, observed, verdict }) => ({
    assumption,
    claim,
    verdict,
    observed
  }))
  const { behaviour, ...rest } = redactJson(
    { format, exchanges: exchanges.length, behaviour: behaviourOf(exchanges), findings },
    redact
  ) as Profile
  return { ...rest, behaviour: fitting(behaviour) }
}
