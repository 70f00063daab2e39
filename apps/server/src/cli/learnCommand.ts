/**
 * The flags of `berth-server learn`. The code of the command, with the client that it needs, is loaded only when the command
 * runs.
 */
import { wholeNumberFlag } from "@berthkit/terminal/valueFlags"
import { variables } from "@berthkit/terminal/variables"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { fileFlag, givenFlag } from "./flags.ts"

const readRupees = (text: string): Option.Option<number> =>
  /^\d{1,7}(\.\d{1,2})?$/.test(text) ? Option.some(Number(text)) : Option.none()

const maxRequests = 1_000

const placeFlag = (name: "project" | "location", metavar: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(`${description}; default $${variables[name]}`),
    Flag.optional
  )

const flags = {
  har: fileFlag(
    "har",
    "Learn from recorded traffic: a HAR file, or a journal or requests.har of berth-server; at most 64 MB"
  ),
  probe: givenFlag(
    "probe",
    "Send GET requests to the service at BERTH_BASE_URL, with BERTH_API_KEY and BERTH_ACCESS_TOKEN"
  ),
  project: placeFlag("project", "NUMBER", "With --probe: the project to ask about"),
  location: placeFlag("location", "NAME", "With --probe: its location, such as Delhi"),
  requests: wholeNumberFlag("requests", 1, maxRequests).pipe(
    Flag.withDescription("Maximum number of GET requests that --probe sends; default 60"),
    Flag.withDefault(60)
  ),
  withNode: givenFlag("with-node", "With --probe: also create the cheapest node and delete it; asks first"),
  maxCharge: Flag.String("max-charge").pipe(
    Flag.withMetavar("RUPEES"),
    Flag.filterMap(readRupees, () => "expected an amount in rupees, such as 50 or 49.50"),
    Flag.withDescription("With --with-node: maximum total charge for the node, including the minimum; not per hour"),
    Flag.optional
  ),
  yes: givenFlag("yes", "With --with-node: do not ask"),
  output: Flag.Literals("output", ["table", "json"]).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Output format; default table"),
    Flag.withDefault("table" as const)
  ),
  html: fileFlag("html", "Also write the report as an HTML page"),
  profile: fileFlag("profile", "Write the profile, for berth-server --profile"),
  check: fileFlag("check", "Compare the evidence with this profile; exit code 11 if the service has changed")
}

export const learnCommand = Command.make("learn", flags, (options) =>
  Effect.flatMap(
    Effect.promise(() => import("@berthkit/learn/run")),
    ({ learn }) => learn(options)
  )
).pipe(
  Command.withDescription(
    "Test Berth's assumptions about the service, and report each one as confirmed, refuted or open"
  ),
  Command.withExamples([
    {
      command: "berth-server learn --probe --profile learned.json",
      description: "Ask the service, and keep a profile"
    },
    { command: "berth-server learn --probe --check learned.json", description: "Fail if the service has changed since" }
  ])
)
