/**
 * The filters that `image list` and `plan list` share: those by which the service narrows its image list, which
 * are exact, and those that it does not have.
 */
import type { ImageFilter } from "@berth/core/domain/Image"
import type { Plan } from "@berth/core/domain/Plan"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Option } from "effect"
import { type Command, Flag } from "effect/cli"

export const imageFilterFlags = {
  type: Flag.Literals("type", ["public", "private"]).pipe(
    Flag.withMetavar("TYPE"),
    Flag.withDescription("public or private images"),
    Flag.optional
  ),
  cpu: wholeNumberFlag("cpu", 1).pipe(Flag.withDescription("CPUs of the plan, exactly"), Flag.optional),
  ram: wholeNumberFlag("ram", 1).pipe(Flag.withDescription("Memory of the plan in GB, exactly"), Flag.optional),
  minCpu: wholeNumberFlag("min-cpu", 1).pipe(Flag.withDescription("CPUs of the plan, or more"), Flag.optional),
  minRam: wholeNumberFlag("min-ram", 1).pipe(Flag.withDescription("Memory of the plan in GB, or more"), Flag.optional),
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

const mibPerGb = 1024

/** Whether a size is large enough; one that is not known is not. */
const isAtLeast = (min: Option.Option<number>, size: number | null): boolean =>
  Option.match(min, { onNone: () => true, onSome: (least) => size !== null && size >= least })

/** Whether a plan is one that the flags ask for, as far as the service has no filter for it. */
export const isWanted =
  ({ minCpu, minRam, plan: named }: Command.Command.Config.Infer<typeof imageFilterFlags>) =>
  ({ memoryMib, plan, vcpus }: Pick<Plan, "plan" | "vcpus" | "memoryMib">): boolean =>
    Option.match(named, { onNone: () => true, onSome: (wanted) => plan.toLowerCase() === wanted.toLowerCase() }) &&
    isAtLeast(minCpu, vcpus) &&
    isAtLeast(
      Option.map(minRam, (gigabytes) => gigabytes * mibPerGb),
      memoryMib
    )

/** The filter that the flags ask for. */
export const imageFilter = (flags: Command.Command.Config.Infer<typeof imageFilterFlags>): ImageFilter => ({
  ...(Option.isSome(flags.type) && { type: flags.type.value }),
  ...(Option.isSome(flags.cpu) && { vcpus: flags.cpu.value }),
  ...(Option.isSome(flags.ram) && { memoryGb: flags.ram.value }),
  ...(Option.isSome(flags.series) && { series: flags.series.value }),
  ...(Option.isSome(flags.os) && { os: flags.os.value }),
  ...(Option.isSome(flags.osVersion) && { osVersion: flags.osVersion.value })
})
