/**
 * The commands that only programs call. The shells' completion scripts call `berth __complete SHELL -- WORD…`, which prints the words that
 * may come next. `berth __values`, with the flags that select the account, reads the names of its nodes, plans and images again and caches
 * them for completions. `berth __describe` prints a description of every command as data, and
 * `berth __answers` the texts that `answer.ts` prints; the build puts both into the bundle.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import { label } from "@berthkit/core/domain/NodeStatus"
import { helpText } from "@berthkit/terminal/helpText"
import { Clock, Config, Effect, Option, Stream } from "effect"
import {
  type AccountFlags,
  accountVariables,
  type CachedValues,
  cachePath,
  profileNames,
  readCache,
  writeCache
} from "../../completion/CompletionCache.ts"
import pkg from "../../../package.json" with { type: "json" }
import { pricePerHourText } from "../../records/price.ts"
import { command, Commands } from "../command.ts"
import type { CommandHelp } from "../../commandLine/CommandHelp.ts"
import { isNoun, verbsOf } from "../../commandLine/CommandTree.ts"
import { helpOfGroup } from "../../commandLine/helpOf.ts"
import { argument, argumentsFrom, GlobalSettings, text } from "../../commandLine/Parameter.ts"
import { rawFlags } from "../../commandLine/words.ts"
import { complete, completionLines, joined } from "../../completion/complete.ts"
import { jsonLine } from "../../output/json.ts"
import { Output } from "../../output/Output.ts"
import { client } from "../../settings/client.ts"
import { loadHelp } from "../describe.ts"

/** Maximum number of nodes that are offered. */
const maxNodes = 1000

/** Time limit of a completion. A shell that takes longer feels broken. */
const maxMillis = 3000

/** Reads the values and caches them in the file at `path`; values that could not be read are left out. */
const readValues = Effect.fnUntraced(function* (path: string | undefined) {
  const nodes = Nodes.use((service) => service.list({ lane: "sweep" }).pipe(Stream.take(maxNodes), Stream.runCollect))
  const plans = Plans.use((service) => service.list())
  const [found, offered] = yield* Effect.all([nodes, plans], { concurrency: 2 })
  const images = new Map(offered.flatMap(({ images, plan }) => images.map((image) => [image, plan] as const)))
  const values: CachedValues = {
    writtenMillis: yield* Clock.currentTimeMillis,
    values: {
      nodes: found.map(({ id, name, status }) => ({ value: name, description: `${id}, ${label(status)}` })),
      plans: offered.map((plan) => ({ value: plan.plan, description: pricePerHourText(plan) ?? "" })),
      images: Array.from(images.keys(), (value) => ({ value, description: "" }))
    }
  }
  writeCache(path, values)
  return values
}, Effect.timeout(maxMillis))

const variables = ["HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", ...accountVariables]

/** The environment variables that determine the account. */
const environment = Effect.map(
  Effect.forEach(variables, (name) => Effect.orDie(Config.option(Config.String(name)))),
  (values) => Object.fromEntries(variables.map((name, index) => [name, Option.getOrUndefined(values[index]!)]))
)

const descriptions = Effect.gen(function* () {
  const described = yield* Effect.forEach(verbsOf(yield* Commands), ({ path, verb }) =>
    Effect.map(
      Effect.promise(() => loadHelp(path, verb)),
      (command) => [path.join(" "), command] as const
    )
  )
  return Object.fromEntries<CommandHelp>(described)
})

const words = argumentsFrom(0, "WORD", text(""))

export const completeWords = command(
  { shell: argument("SHELL", text("")), words },
  Effect.fnUntraced(function* ({ shell, words: given }) {
    const line = joined(given)
    const described = yield* descriptions
    const completion = complete(yield* Commands, (path) => described[path], line)
    const { dynamic } = completion
    const env = yield* environment
    const account = rawFlags(line)
    const offered =
      dynamic === undefined
        ? []
        : dynamic === "profiles"
          ? profileNames(env)
          : ((yield* valuesOf(env, account))?.values[dynamic] ?? [])
    yield* Output.use(({ data }) => data(completionLines(completion, offered, shell)))
  })
)

/** Provides the account that the flags name. */
const ofAccount = ({ location, profile, project, userAgent }: AccountFlags) =>
  Effect.updateService(GlobalSettings, (settings) => ({ ...settings, profile, project, location, userAgent }))

/** The cached values. If there are none, reads them from the service; undefined if the service cannot be reached. */
const valuesOf = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
  account: AccountFlags
) {
  const path = cachePath(env, account)
  return (
    readCache(path) ??
    (yield* readValues(path).pipe(
      Effect.provide(client),
      ofAccount(account),
      Effect.orElseSucceed(() => undefined)
    ))
  )
})

export const refreshValues = command(
  {},
  Effect.fnUntraced(function* () {
    const path = cachePath(yield* environment, yield* GlobalSettings)
    yield* readValues(path).pipe(Effect.provide(client), Effect.ignore)
  })
)

export const describeAll = command(
  {},
  Effect.fnUntraced(function* () {
    const described = yield* descriptions
    yield* Output.use(({ data }) => data(`${jsonLine(described)}\n`))
  })
)

/** The texts of `answer.ts`, each with the command line that it answers. */
export const answerAll = command(
  {},
  Effect.fnUntraced(function* () {
    const tree = yield* Commands
    const described = Object.entries(yield* descriptions).map(([path, help]) => [path.split(" "), help] as const)
    const groups = tree.filter(isNoun).map((noun) => [[noun.name], helpOfGroup(tree, noun)] as const)
    const helps = [[[], helpOfGroup(tree, undefined)] as const, ...groups, ...described]
    const version = ["version", "--version"].map((word) => [[word], `berth ${pkg.version}\n`] as const)
    const answers = [...helps.map(([path, help]) => [[...path, "--help"], helpText(help, true)] as const), ...version]
    const texts = answers.map(([args, text]) => [JSON.stringify(args), text])
    yield* Output.use(({ data }) => data(`${jsonLine(texts)}\n`))
  })
)
