/**
 * Two records: a profile, for `berth profile list`; and the account that a command would use, with the source of each setting. Neither
 * contains a secret.
 */
import { Schema } from "effect"
import { nothing, textOr } from "../output/format.ts"
import { recordOf } from "../output/RecordDescriptor.ts"

const Profile = Schema.Struct({
  name: Schema.String,
  current: Schema.Boolean.annotate({ description: "Whether commands use it if none is named." }),
  baseUrl: Schema.String,
  project: Schema.NullOr(Schema.Int).annotate({ description: "Project of the nodes; null without one." }),
  location: Schema.NullOr(Schema.String).annotate({ description: "Location of the nodes; null without one." }),
  userAgent: Schema.NullOr(Schema.String).annotate({ description: "User-Agent of requests; null for that of berth." })
})
export interface Profile extends Schema.Schema.Type<typeof Profile> {}

/** A saved profile, without its credentials. */
export const profileOf = (
  name: string,
  values: {
    readonly baseUrl: string
    readonly project?: number | undefined
    readonly location?: string | undefined
    readonly userAgent?: string | undefined
  },
  current: boolean
): Profile => ({
  name,
  current,
  baseUrl: values.baseUrl,
  project: values.project ?? null,
  location: values.location ?? null,
  userAgent: values.userAgent ?? null
})

export const profileRecord = recordOf(Profile, { none: "no profiles", idKey: "name" }, [
  { key: "current", title: "USED", value: ({ current }) => (current ? "*" : "") },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 8 },
  { key: "baseUrl", title: "ADDRESS", value: ({ baseUrl }) => baseUrl, alias: "address", shrinkTo: 20 },
  { key: "project", title: "PROJECT", value: ({ project }) => textOr(project === null ? null : String(project)) },
  { key: "location", title: "LOCATION", value: ({ location }) => textOr(location) },
  { key: "userAgent", title: "USER-AGENT", value: ({ userAgent }) => textOr(userAgent), dropOrder: 1 }
])

const source = (of: string) =>
  Schema.NullOr(Schema.String).annotate({
    description: `The flag, variable or profile that sets ${of}; null without one.`
  })

const Account = Schema.Struct({
  profile: Schema.NullOr(Schema.String),
  profileSource: source("the profile"),
  baseUrl: Schema.NullOr(Schema.String),
  baseUrlSource: source("the address"),
  project: Schema.NullOr(Schema.String),
  projectSource: source("the project"),
  location: Schema.NullOr(Schema.String),
  locationSource: source("the location"),
  userAgent: Schema.NullOr(Schema.String),
  userAgentSource: source("the User-Agent"),
  apiKeySource: source("the API key"),
  accessTokenSource: source("the access token"),
  authenticated: Schema.NullOr(Schema.Boolean).annotate({
    description: "Whether the service accepts the credentials; null if it could not be asked."
  })
})
export interface Account extends Schema.Schema.Type<typeof Account> {}

const answer = (authenticated: boolean | null) => (authenticated === null ? "not known" : authenticated ? "yes" : "no")

const from = (value: string | null, sourceName: string | null) =>
  value === null ? nothing : `${value} (from ${textOr(sourceName)})`

export const accountRecord = recordOf(Account, { none: "no account", idKey: "profile", nameKey: "profile" }, [
  { key: "profile", title: "PROFILE", value: ({ profile, profileSource }) => from(profile, profileSource) },
  { key: "baseUrl", title: "ADDRESS", value: ({ baseUrl, baseUrlSource }) => from(baseUrl, baseUrlSource) },
  { key: "project", title: "PROJECT", value: ({ project, projectSource }) => from(project, projectSource) },
  { key: "location", title: "LOCATION", value: ({ location, locationSource }) => from(location, locationSource) },
  {
    key: "userAgent",
    title: "USER-AGENT",
    value: ({ userAgent, userAgentSource }) => from(userAgent, userAgentSource)
  },
  { key: "apiKeySource", title: "API KEY FROM", value: ({ apiKeySource }) => textOr(apiKeySource) },
  { key: "accessTokenSource", title: "TOKEN FROM", value: ({ accessTokenSource }) => textOr(accessTokenSource) },
  {
    key: "authenticated",
    title: "LOGGED IN",
    value: ({ authenticated }) => answer(authenticated),
    style: ({ authenticated }) => (authenticated === null ? "faint" : authenticated ? "good" : "bad")
  }
])
