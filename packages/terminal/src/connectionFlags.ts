/** The flags that select a service, for programs whose command line `effect/cli` parses. */
import { Option } from "effect"
import { Flag } from "effect/cli"
import { addressFlag, type PlaceSetting } from "./Connection.ts"
import { variables } from "./variables.ts"

/** The flag for the service's address. */
export const baseUrlFlag: Flag.Flag<Option.Option<string>> = Flag.String(addressFlag).pipe(
  Flag.withMetavar("URL"),
  Flag.withDescription(`The service's address; default $${variables.baseUrl}`),
  Flag.optional
)

const placeFlag = (name: PlaceSetting, metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description}; default $${variables[name]}`),
    Flag.optional
  )

/** The flags for the project and the location of the nodes. */
export const placeFlags = {
  project: placeFlag("project", "NUMBER", "The project of the nodes, if the service has projects"),
  location: placeFlag("location", "NAME", "The location of the nodes, such as Delhi")
}

/** The flag for the `User-Agent`. */
export const userAgentFlag: Flag.Flag<Option.Option<string>> = Flag.String("user-agent").pipe(
  Flag.withMetavar("TEXT"),
  Flag.withDescription(`User-Agent of requests; default $${variables.userAgent}`),
  Flag.optional
)

/** The values of these flags. */
export const flagsGiven = (flags: { readonly [Name in PlaceSetting | "userAgent"]: Option.Option<string> }) => ({
  project: Option.getOrUndefined(flags.project),
  location: Option.getOrUndefined(flags.location),
  userAgent: Option.getOrUndefined(flags.userAgent)
})

/** Whether credentials may cross a network in plain text. */
export const allowHttpFlag: Flag.Flag<boolean> = Flag.Boolean("allow-http").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Send the credentials over plain http, where anyone on the network path can read them"),
  Flag.withDefault(false)
)
