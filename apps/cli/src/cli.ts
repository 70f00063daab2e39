/**
 * `berth`, the whole program: its commands, the settings they all take, and how a run ends.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import pkg from "../package.json" with { type: "json" }
import * as api from "./commands/api/request.ts"
import * as commitment from "./commands/commitment/set.ts"
import * as images from "./commands/image/list.ts"
import * as savedImages from "./commands/image/saved.ts"
import { create } from "./commands/node/create.ts"
import { remove } from "./commands/node/delete.ts"
import { get } from "./commands/node/get.ts"
import { ip } from "./commands/node/ip.ts"
import * as nodes from "./commands/node/list.ts"
import { ssh } from "./commands/node/ssh.ts"
import { wait } from "./commands/node/wait.ts"
import { watch } from "./commands/node/watch.ts"
import * as plans from "./commands/plan/list.ts"
import { withExitCode } from "./ending.ts"
import { Output, type Streams } from "./output/Output.ts"
import { OutputFormat } from "./output/OutputFormat.ts"
import { presenter } from "./output/presenter.ts"
import { BaseUrl, Debug } from "./settings/globalFlags.ts"
import { redaction } from "./settings/redaction.ts"
import { closeSwitches } from "./settings/switches.ts"

const noun = (name: string, description: string) => Command.make(name).pipe(Command.withDescription(description))

const berth = Command.make("berth").pipe(
  Command.withDescription("Manage the nodes of an account"),
  Command.withSubcommands([
    noun("node", "Virtual machines").pipe(
      Command.withSubcommands([nodes.list, get, create, remove, wait, watch, ip, ssh])
    ),
    noun("commitment", "Reserved prices of nodes").pipe(Command.withSubcommands([commitment.set])),
    noun("image", "What nodes are made from").pipe(Command.withSubcommands([images.list, savedImages.saved])),
    noun("plan", "Sizes and prices").pipe(Command.withSubcommands([plans.list])),
    api.request
  ]),
  Command.withGlobalFlags([OutputFormat, BaseUrl, Debug])
)

/** Runs berth on these streams and gives its exit code. The caller handles an interruption. */
export const run = (args: ReadonlyArray<string>, streams: Streams): Effect.Effect<number> => {
  const output = Layer.unwrap(Effect.map(redaction, (redact) => Output.layer(streams, redact)))
  return Command.runWith(berth, { version: pkg.version })(closeSwitches(args)).pipe(
    withExitCode(args),
    Effect.provide(Layer.provideMerge(presenter, output)),
    Effect.provide([NodeServices.layer, CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })])
  )
}
