/**
 * The filters that `image list` and `plan list` share: those by which the service narrows its image list.
 */
import type { ImageFilter } from "@berth/core/domain/Image"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Option } from "effect"
import { type Command, Flag } from "effect/cli"

export const imageFilterFlags = {
  type: Flag.Literals("type", ["public", "private"]).pipe(
    Flag.withMetavar("TYPE"),
    Flag.withDescription("public or private images"),
    Flag.optional
  ),
  cpu: wholeNumberFlag("cpu", 1).pipe(Flag.withDescription("CPUs of the plan"), Flag.optional),
  ram: wholeNumberFlag("ram", 1).pipe(Flag.withDescription("Memory of the plan in GB"), Flag.optional),
  series: Flag.String("series").pipe(
    Flag.withMetavar("SERIES"),
    Flag.withDescription("Series of the plan"),
    Flag.optional
  ),
  os: Flag.String("os").pipe(Flag.withMetavar("OS"), Flag.withDescription("Operating system"), Flag.optional),
  // Before a command --version is the program's; behind these two it takes a value.
  osVersion: Flag.String("version").pipe(
    Flag.withMetavar("VERSION"),
    Flag.withDescription("Version of the operating system"),
    Flag.optional
  ),
  plan: Flag.String("plan").pipe(Flag.withMetavar("PLAN"), Flag.withDescription("Only this plan"), Flag.optional)
}

/** Whether a record is of the plan that the flags name; the service has no such filter. */
export const ofPlan =
  ({ plan }: Command.Command.Config.Infer<typeof imageFilterFlags>) =>
  (record: { readonly plan: string }): boolean =>
    Option.match(plan, { onNone: () => true, onSome: (wanted) => record.plan.toLowerCase() === wanted.toLowerCase() })

/** The filter that the flags ask for. */
export const imageFilter = (flags: Command.Command.Config.Infer<typeof imageFilterFlags>): ImageFilter => ({
  ...(Option.isSome(flags.type) && { type: flags.type.value }),
  ...(Option.isSome(flags.cpu) && { vcpus: flags.cpu.value }),
  ...(Option.isSome(flags.ram) && { memoryGb: flags.ram.value }),
  ...(Option.isSome(flags.series) && { series: flags.series.value }),
  ...(Option.isSome(flags.os) && { os: flags.os.value }),
  ...(Option.isSome(flags.osVersion) && { osVersion: flags.osVersion.value })
})
