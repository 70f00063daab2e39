/**
 * `berth`, the whole program: its commands, the settings they all take, and what happens when one fails.
 */
import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
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
import * as nodes from "./commands/node/list.ts"
import { wait } from "./commands/node/wait.ts"
import * as plans from "./commands/plan/list.ts"
import { redaction } from "./config/credentials.ts"
import { BaseUrl, Debug } from "./config/globalFlags.ts"
import { presenter } from "./output/presenter.ts"
import { Output } from "./output/Output.ts"
import { OutputFormat } from "./output/OutputFormat.ts"
import { settle } from "./settle.ts"

const noun = (name: string, description: string) => Command.make(name).pipe(Command.withDescription(description))

const berth = Command.make("berth").pipe(
  Command.withDescription("Manage the nodes of an account"),
  Command.withSubcommands([
    noun("node", "Virtual machines").pipe(Command.withSubcommands([nodes.list, get, create, remove, wait])),
    noun("commitment", "Reserved prices of nodes").pipe(Command.withSubcommands([commitment.set])),
    noun("image", "What nodes are made from").pipe(Command.withSubcommands([images.list, savedImages.saved])),
    noun("plan", "Sizes and prices").pipe(Command.withSubcommands([plans.list])),
    api.request
  ]),
  Command.withGlobalFlags([OutputFormat, BaseUrl, Debug])
)

const args = process.argv.slice(2)

const program = Command.runWith(berth, { version: pkg.version })(args).pipe(settle(args))

const services = Layer.mergeAll(presenter, CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })).pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(redaction, Output.layer))),
  Layer.provideMerge(NodeServices.layer)
)

NodeRuntime.runMain(Effect.provide(program, services), { disableErrorReporting: true })
