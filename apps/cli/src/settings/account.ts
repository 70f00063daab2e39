/**
 * Determines the account of a command, and the source of each setting: flags override the environment, which overrides the profile. A
 * profile named by a flag overrides the environment too, because it describes the whole account. Each credential is bound to the service's
 * address with which it was set, and is sent to no other address (decision 0123).
 */
import { basename } from "node:path"
import {
  addressSetting,
  type Connection,
  type ConnectionSettings,
  type Credential,
  databaseSetting,
  environmentSettings,
  placeSetting,
  type PlaceSettings,
  type Sourced,
  userAgentSetting,
  variableSetting
} from "@berthkit/terminal/Connection"
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { quotedFlag } from "@berthkit/terminal/quoted"
import { variables } from "@berthkit/terminal/variables"
import { Duration, Effect, Option, Redacted } from "effect"
import { argument, GlobalSettings, text } from "../commandLine/Parameter.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { type Profiles, type ProfileValues, readProfiles, writeProfiles } from "./ProfileFile.ts"

/** The account's folder in the user's state folder, and the hash that names the account; undefined if the user has no state folder. */
export const accountFolderOf = ({ files: { folder } }: Pick<Connection, "files">) =>
  folder === undefined ? undefined : { folder, id: basename(folder) }

interface AccountSettings extends ConnectionSettings {
  /** The name of the profile; none if no profile is used. */
  readonly profile: Option.Option<Sourced<string>>
  /** Maximum time of each call; none for the client's default. */
  readonly deadline: Option.Option<Sourced<Duration.Duration>>
}

/** The name of the profile, and its source. */
const profileName = Effect.fnUntraced(function* ({ current }: Profiles) {
  const flag = (yield* GlobalSettings).profile
  if (flag !== undefined) return Option.some({ value: flag, source: "--profile" })
  const variable = yield* variableSetting(variables.profile)
  if (Option.isSome(variable)) return Option.some({ ...variable.value, value: Redacted.value(variable.value.value) })
  return Option.map(Option.fromNullishOr(current), (value) => ({ value, source: "berth profile use" }))
})

/** The argument that names a profile. */
export const profileArgument = argument("PROFILE", text(""), "Name of a profile, see berth profile list")

/** Finds a profile by name. */
export const findProfile = (profiles: Profiles, name: string): Effect.Effect<ProfileValues, UsageFault> => {
  const found = profiles.profiles.get(name)
  if (found !== undefined) return Effect.succeed(found)
  const names = Array.from(profiles.profiles.keys())
  return Effect.fail(
    new UsageFault({
      message: `There is no profile ${name}${didYouMean(nearest(name, names))}`,
      hint: `Run: berth profile list, or berth auth login ${quotedFlag("profile", name)}`
    })
  )
}

/** The name under which a login saves: the named or current profile, or otherwise `default`. */
export const profileToSave = Effect.fnUntraced(function* (profiles: Profiles) {
  return Option.match(yield* profileName(profiles), { onNone: () => "default", onSome: ({ value }) => value })
})

/** The address of a login: from the flag, the profile that a flag names, the environment, or the current profile. */
export const addressOf = Effect.fnUntraced(function* (profile: ProfileValues | undefined) {
  const flags = yield* GlobalSettings
  const named = flags.baseUrl !== undefined || flags.profile === undefined || profile === undefined
  const set = named ? yield* addressSetting(Option.fromUndefinedOr(flags.baseUrl)) : Option.none()
  return Option.orElse(set, () =>
    Option.map(Option.fromNullishOr(profile), ({ baseUrl }) => ({ value: baseUrl, source: "the profile" }))
  )
})

/** The place (project and location) of a profile. */
const placeOf = (values: ProfileValues, source: string): PlaceSettings => {
  const part = (value: string | number | undefined) =>
    Option.map(Option.fromUndefinedOr(value), (found) => ({ value: String(found), source }))
  return { project: part(values.project), location: part(values.location) }
}

/** Completes the place with the parts that only the profile sets. */
const placeOver = (set: PlaceSettings, profile: PlaceSettings): PlaceSettings => ({
  project: Option.orElse(set.project, () => profile.project),
  location: Option.orElse(set.location, () => profile.location)
})

const nowhere: PlaceSettings = { project: Option.none(), location: Option.none() }

/** The place in the flags and, unless a flag names the profile, in the environment. */
const placeSet = Effect.gen(function* () {
  const flags = yield* GlobalSettings
  const set = yield* placeSetting(flags)
  if (flags.profile === undefined) return set
  return {
    project: flags.project === undefined ? Option.none() : set.project,
    location: flags.location === undefined ? Option.none() : set.location
  }
})

/** The place that a login uses and saves. */
export const placeToSave = Effect.fnUntraced(function* (profile: ProfileValues | undefined) {
  return placeOver(yield* placeSet, profile === undefined ? nowhere : placeOf(profile, "the profile"))
})

/** The `User-Agent` from the settings or the profile; a profile named by a flag overrides the environment. */
const userAgentOver = Effect.fnUntraced(function* (
  set: ConnectionSettings["userAgent"] = Option.none(),
  profile: ProfileValues | undefined,
  source: string
) {
  const flags = yield* GlobalSettings
  const ofProfile = Option.map(Option.fromUndefinedOr(profile?.userAgent), (value) => ({ value, source }))
  return flags.profile !== undefined && flags.userAgent === undefined
    ? Option.orElse(ofProfile, () => set)
    : Option.orElse(set, () => ofProfile)
})

/** The `User-Agent` that a login uses and saves; none for the client's own. */
export const userAgentToSave = Effect.fnUntraced(function* (profile: ProfileValues | undefined) {
  return yield* userAgentOver(yield* userAgentSetting((yield* GlobalSettings).userAgent), profile, "the profile")
})

/** The database of shared state from the settings or the profile; a profile named by a flag overrides the environment. */
const stateUrlOver = Effect.fnUntraced(function* (
  set: ConnectionSettings["stateUrl"] = Option.none(),
  profile: ProfileValues | undefined,
  source: string
) {
  const ofProfile = Option.map(Option.fromUndefinedOr(profile?.stateUrl), (value) => ({ value, source }))
  const flags = yield* GlobalSettings
  return flags.profile !== undefined && flags.stateUrl === undefined
    ? Option.orElse(ofProfile, () => set)
    : Option.orElse(set, () => ofProfile)
})

/** The database that a login uses and saves: that of the flag or the environment, otherwise that of the profile. */
export const stateUrlToSave = Effect.fnUntraced(function* (profile: ProfileValues | undefined) {
  const set = yield* databaseSetting((yield* GlobalSettings).stateUrl)
  const ofProfile = Option.fromUndefinedOr(profile?.stateUrl)
  return Option.orElse(set, () => Option.map(ofProfile, (value) => ({ value, source: "the profile" })))
})

/** Removes a profile by name. */
export const forgetProfile = Effect.fnUntraced(function* (all: Profiles, name: string) {
  const { current, further, profiles } = all
  yield* findProfile(all, name)
  yield* writeProfiles({
    further,
    current: current === name ? null : current,
    profiles: new Map(Array.from(profiles).filter(([each]) => each !== name))
  })
})

/** Removes the named or current profile, and returns its name. */
export const removeProfile = Effect.gen(function* () {
  const profiles = yield* readProfiles
  const name = yield* profileName(profiles)
  if (Option.isNone(name)) {
    return yield* new UsageFault({
      message: "No profile is in use.",
      hint: "Name one: berth auth logout --profile NAME; see berth profile list."
    })
  }
  yield* forgetProfile(profiles, name.value.value)
  return name.value.value
})

/** The maximum time of the command, and of each of its calls. */
export const deadlineSetting = Effect.gen(function* () {
  const flag = (yield* GlobalSettings).deadline
  if (flag !== undefined) return Option.some({ value: flag, source: "--deadline" })
  const variable = yield* variableSetting(variables.deadline)
  if (Option.isNone(variable)) return Option.none<Sourced<Duration.Duration>>()
  const millis = parseDurationMillis(Redacted.value(variable.value.value))
  if (Option.isSome(millis)) return Option.some({ value: Duration.millis(millis.value), source: variables.deadline })
  return yield* new UsageFault({
    message: `${variables.deadline} is not usable: expected a duration, such as 90s.`,
    hint: `Correct ${variables.deadline}, or unset it.`
  })
})

/** The settings of the account. */
export const accountSettings = Effect.gen(function* () {
  const flags = yield* GlobalSettings
  const own = yield* environmentSettings(Option.fromUndefinedOr(flags.baseUrl), flags.allowHttp, flags)
  const deadline = yield* deadlineSetting
  const named = flags.profile !== undefined
  // A command with all settings in the environment does not read the profile file, so a damaged file does not stop the command.
  if (!named && [own.baseUrl, own.apiKey, own.accessToken].every((setting) => Option.isSome<unknown>(setting))) {
    return { ...own, profile: Option.none(), deadline } satisfies AccountSettings
  }
  const profiles = yield* readProfiles
  const profile = yield* profileName(profiles)
  if (Option.isNone(profile)) return { ...own, profile, deadline } satisfies AccountSettings
  const values = yield* findProfile(profiles, profile.value.value)
  const { accessToken, apiKey, baseUrl } = values
  const source = `profile ${profile.value.value}`
  const credential = (outside: Option.Option<Credential>, value: Redacted.Redacted) =>
    Option.orElse(named ? Option.none() : outside, () => Option.some({ value, source, belongsTo: baseUrl }))
  return {
    ...own,
    baseUrl: Option.orElse(named && flags.baseUrl === undefined ? Option.none() : own.baseUrl, () =>
      Option.some({ value: baseUrl, source })
    ),
    apiKey: credential(own.apiKey, apiKey),
    accessToken: credential(own.accessToken, accessToken),
    // A profile named by a flag describes the whole account.
    account: named ? Option.none() : own.account,
    ...placeOver(yield* placeSet, placeOf(values, source)),
    userAgent: yield* userAgentOver(own.userAgent, values, source),
    stateUrl: yield* stateUrlOver(own.stateUrl, values, source),
    profile,
    deadline
  } satisfies AccountSettings
})
