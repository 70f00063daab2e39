/**
 * The filters that `image list` and `plan list` share: what the service can narrow its image list by.
 */
import type { ImageFilter } from "@berth/core/domain/Image"
import { Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { countFlag } from "./wholeNumberFlag.ts"

export const imageFilterFlags = {
  type: Flag.Literals("type", ["public", "private"]).pipe(
    Flag.withMetavar("TYPE"),
    Flag.withDescription("public or private images"),
    Flag.optional
  ),
  cpu: countFlag("cpu").pipe(Flag.withDescription("CPUs of the plan"), Flag.optional),
  ram: countFlag("ram").pipe(Flag.withDescription("Memory of the plan in GB"), Flag.optional),
  series: Flag.String("series").pipe(
    Flag.withMetavar("SERIES"),
    Flag.withDescription("Series of the plan"),
    Flag.optional
  ),
  os: Flag.String("os").pipe(Flag.withMetavar("OS"), Flag.withDescription("Operating system"), Flag.optional),
  // Of all commands, these take a value here: a command's own flag comes before the program's --version.
  osVersion: Flag.String("version").pipe(
    Flag.withMetavar("VERSION"),
    Flag.withDescription("Version of the operating system"),
    Flag.optional
  )
}

/** The filter that the flags ask for. */
export const imageFilter = (flags: Command.Command.Config.Infer<typeof imageFilterFlags>): ImageFilter => ({
  ...(Option.isSome(flags.type) && { type: flags.type.value }),
  ...(Option.isSome(flags.cpu) && { vcpus: flags.cpu.value }),
  ...(Option.isSome(flags.ram) && { memoryGb: flags.ram.value }),
  ...(Option.isSome(flags.series) && { series: flags.series.value }),
  ...(Option.isSome(flags.os) && { os: flags.os.value }),
  ...(Option.isSome(flags.osVersion) && { osVersion: flags.osVersion.value })
})
