/**
 * Annotates the OpenAPI description with a profile's verdicts: after the source of each statement, it says whether the
 * evidence confirms or refutes the assumption, or leaves it open.
 */
import type { Json } from "@berthkit/core/api/Document"
import { Context } from "effect"
import { type HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { describeToday } from "../dialect/document.ts"
import type { Finding, Profile, VerdictWord } from "@berthkit/profile/Profile"

/** The overall verdict on an assumption: refuted if any claim is refuted, otherwise confirmed if any is confirmed. */
const overall = (findings: ReadonlyArray<Finding>): ReadonlyMap<string, VerdictWord> => {
  const worst: Record<VerdictWord, number> = { refuted: 0, confirmed: 1, open: 2 }
  const byAssumption = new Map<string, VerdictWord>()
  for (const { assumption, verdict } of findings) {
    const before = byAssumption.get(assumption)
    if (before === undefined || worst[verdict] < worst[before]) byAssumption.set(assumption, verdict)
  }
  return byAssumption
}

/** Escapes a string from a service, so that nobody reads it as Markdown. */
const plain = (text: string): string => text.replace(/[\\`*_{}[\]()#+!|<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)

const tableOf = ({ exchanges, findings }: Profile): string =>
  [
    `This server plays a profile that was learned from ${exchanges} requests.`,
    "",
    "| Assumption | Claim | Verdict | Observed |",
    "|---|---|---|---|",
    ...findings.map(
      ({ assumption, claim, observed, verdict }) =>
        `| ${assumption} | ${plain(claim)} | ${verdict} | ${plain(observed)} |`
    )
  ].join("\n")

/** The description with the verdicts of the profile, if there is one. */
const withMarks = (spec: Json, profile: Profile | undefined): Json => {
  if (profile === undefined) return spec
  const verdicts = overall(profile.findings)
  const mark = (text: string) =>
    text.replace(/\((observed|chosen): (A\d+)\)/g, (_, source: string, assumption: string) => {
      const verdict = verdicts.get(assumption) ?? "open"
      return `(${source}: ${assumption}; ${verdict} ${verdict === "open" ? "in" : "by"} the profile)`
    })
  const marked: Json = JSON.parse(JSON.stringify(spec), (name, value: unknown) =>
    name === "description" && typeof value === "string" ? mark(value) : value
  )
  return { ...marked, info: { ...marked["info"], description: `${marked["info"].description}\n\n${tableOf(profile)}` } }
}

/** Everything apart from the documented interface that the description of a server depends on. */
export interface Described {
  readonly profile: Profile | undefined
  /** Whether to describe today's dialect. The server's first world decides this. */
  readonly isToday: boolean
}

/** The description of today's dialect, or the documented one with the verdicts of the profile. */
export const describedBy = (spec: Json, { isToday, profile }: Described): Json =>
  isToday ? describeToday(spec) : withMarks(spec, profile)

/** The API with that description attached. */
export const marked = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  described: Described
): HttpApi.HttpApi<Id, Groups> => {
  if (described.profile === undefined && !described.isToday) return api
  const before = Context.getOrElse(api.annotations, OpenApi.Transform, () => (spec: Json) => spec)
  return api.annotate(OpenApi.Transform, (spec) => describedBy(before(spec), described))
}
