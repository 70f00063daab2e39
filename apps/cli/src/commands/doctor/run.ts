/**
 * `berth doctor`: checks where each setting came from, berth's files, and the connection to the service. It changes nothing, and exits with
 * the code of the first failure.
 */
import { RawApi } from "@berthkit/core/client/RawApi"
import type { Connection, ConnectionSettings, Credential, Sourced } from "@berthkit/terminal/Connection"
import { shownAddress } from "@berthkit/terminal/postgresAddress"
import { Clock, Duration, Effect, Option, Result } from "effect"
import { readableFleets } from "../../applying/Registry.ts"
import { command } from "../command.ts"
import pkg from "../../../package.json" with { type: "json" }
import { fileReason } from "../../failure/fileReason.ts"
import type { Failure } from "../../failure/Problem.ts"
import { printAll } from "../../output/print.ts"
import { type Check, checkRecord } from "../../records/check.ts"
import { accountSettings } from "../../settings/account.ts"
import { clientOf, connectionFor, ensureOwnCredential } from "../../settings/client.ts"
import { countOthers } from "../limits/otherClients.ts"
import { ensureWritable } from "../../files/ownFiles.ts"
import { profilePath, readProfiles } from "../../settings/ProfileFile.ts"

/** A check with the failure that a command would report. */
interface Finding extends Check {
  readonly failure?: Failure
}

const ok = (check: string, detail: string): Finding => ({ check, result: "ok", detail })
const warning = (check: string, detail: string): Finding => ({ check, result: "warning", detail })
const failed = (check: string, failure: Failure): Finding => ({
  check,
  result: "failed",
  detail: failure.message,
  failure
})

const sourced = (check: string, setting: Option.Option<Sourced<unknown>>, shown: (value: unknown) => string): Finding =>
  Option.match(setting, {
    onNone: () => warning(check, "not set"),
    onSome: ({ source, value }) => ok(check, `${shown(value)}from ${source}`)
  })

/** Shows where a credential was set. The check fails if commands would refuse to send the credential to the service's address. */
const credentialFinding = (
  what: "API key" | "access token",
  { baseUrl }: ConnectionSettings,
  credential: Option.Option<Credential>
) => {
  const found = sourced(what, credential, () => "")
  return Option.match(Option.all([baseUrl, credential]), {
    onNone: () => Effect.succeed(found),
    onSome: ([address, given]) =>
      Effect.match(ensureOwnCredential(address, given, what), {
        onFailure: (failure) => failed(what, failure),
        onSuccess: () => found
      })
  })
}

/** If this machine's clock differs from the service's by more than this, the times in lists are wrong. */
const maxSkewMillis = 30_000

const settings = Effect.gen(function* () {
  const found = yield* accountSettings
  const text = (value: unknown) => `${String(value)}, `
  const findings = [
    Option.isNone(found.profile) ? ok("profile", "none is used") : sourced("profile", found.profile, text),
    sourced("address", found.baseUrl, text),
    Option.match(Option.all([found.project, found.location]), {
      onNone: () =>
        Option.isSome(found.project) || Option.isSome(found.location)
          ? warning("place", "half of it is set: a project and a location belong together")
          : ok("place", "none: requests name no project and no location"),
      onSome: ([project, location]) =>
        ok("place", `project ${project.value}, from ${project.source}, in ${location.value}, from ${location.source}`)
    }),
    yield* credentialFinding("API key", found, found.apiKey),
    yield* credentialFinding("access token", found, found.accessToken),
    Option.match(found.account ?? Option.none(), {
      onNone: () => ok("account", "has no name: the keys of creates belong to the API key"),
      onSome: ({ source, value }) => ok("account", `${value}, from ${source}: the keys of creates belong to it`)
    }),
    Option.match(found.deadline, {
      onNone: () => ok("deadline", "60s, the default"),
      onSome: ({ source, value }) => ok("deadline", `${Duration.toMillis(value) / 1000}s, from ${source}`)
    })
  ]
  return { found, findings }
})

/** Checks the profile file. */
const profiles = Effect.gen(function* () {
  const path = yield* profilePath
  if (Option.isNone(path)) return warning("profiles", "none: there is no home folder")
  return yield* Effect.match(readProfiles, {
    onFailure: (failure) => failed("profiles", failure),
    onSuccess: ({ profiles }) => ok("profiles", `${profiles.size} in ${path.value}`)
  })
})

/** Checks whether the files that processes share are writable. */
const stateFiles = ({ files }: Connection) =>
  Effect.gen(function* () {
    const { allowanceFile } = files
    if (allowanceFile === undefined) return warning("state files", "none: processes of this machine share nothing")
    return yield* Effect.match(ensureWritable(allowanceFile), {
      onFailure: (fault) => warning("state files", `${allowanceFile} cannot be written: ${fileReason(fault)}`),
      onSuccess: () => ok("state files", `beside ${allowanceFile}`)
    })
  })

/** Names the first fleet record that cannot be read. As long as there is one, no command deletes a node. */
const fleets = Effect.map(readableFleets, ({ fault }) => (fault === undefined ? [] : [failed("fleets", fault)]))

/** Checks whether the database for the shared rate limit answers. */
const sharing = ({ stateUrl }: Connection) =>
  stateUrl === undefined
    ? Effect.succeed([])
    : Effect.match(countOthers, {
        onFailure: ({ detail }) => [warning("sharing", `${shownAddress(stateUrl)} cannot be used: ${detail}`)],
        onSuccess: () => [ok("sharing", `through ${shownAddress(stateUrl)}`)]
      })

/** Sends one request, and checks the service, its clock, the credentials and the rate limit by the reply. */
const service = (connection: Connection) =>
  Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const asked = yield* Effect.result(
      RawApi.use((api) =>
        api.exchange({
          method: "GET",
          path: "/nodes/",
          query: [
            ["per_page", "1"],
            ["page_no", "1"]
          ]
        })
      )
    )
    const endedAt = yield* Clock.currentTimeMillis
    const shared = [...(yield* sharing(connection)), ...(yield* fleets)]
    if (Result.isFailure(asked)) return [failed("service", asked.failure), ...shared]
    const { failure, reply } = asked.success
    const date = Date.parse(reply.headers["date"] ?? "")
    const skewMillis = date - (startedAt + endedAt) / 2
    const remaining = reply.headers["ratelimit-remaining"]
    return [
      ok("service", `answers in ${endedAt - startedAt} ms`),
      Number.isNaN(date)
        ? warning("clock", "the service sends no date")
        : Math.abs(skewMillis) > maxSkewMillis
          ? warning("clock", `differs from the service's by ${Math.round(skewMillis / 1000)} s`)
          : ok("clock", "within 30 s of the service's"),
      failure === null ? ok("credentials", "may list nodes") : failed("credentials", failure),
      ...(remaining === undefined
        ? []
        : [ok("rate limit", `${remaining} requests left of ${reply.headers["ratelimit-limit"] ?? "?"}`)]),
      ...shared
    ]
  }).pipe(Effect.provide(clientOf(connection)))

const versions = [ok("berth", pkg.version), ok("Node", process.versions.node)]

export const doctor = command(
  {},
  Effect.fnUntraced(function* () {
    const findings: Array<Finding> = [...versions, yield* profiles]
    const account = yield* Effect.result(settings)
    if (Result.isFailure(account)) findings.push(failed("settings", account.failure))
    else {
      findings.push(...account.success.findings)
      const connection = yield* Effect.result(connectionFor(account.success.found))
      if (Result.isFailure(connection)) findings.push(failed("settings", connection.failure))
      else findings.push(yield* stateFiles(connection.success), ...(yield* service(connection.success)))
    }
    yield* printAll(checkRecord, findings)
    const failure = findings.find((finding) => finding.failure !== undefined)?.failure
    if (failure !== undefined) return yield* failure
  })
)
