import "effect/schema/SchemaJITCompiler/enable"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console } from "effect"
import pkg from "../package.json" with { type: "json" }

NodeRuntime.runMain(Console.log(pkg.version))
