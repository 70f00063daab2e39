/**
 * The filters that `image list` and `plan list` share: those by which the service narrows its image list, which
 * are exact, and those that it does not have.
 */
import type { ImageFilter } from "@berthkit/core/domain/Image"
import type { Plan } from "@berthkit/core/domain/Plan"
import { Option } from "effect"
import { flag, oneOf, text, type Values, wholeNumber } from "../commandLine/Parameter.ts"

export const imageFilterFlags = {
  type: flag("type", oneOf(["public", "private"], "TYPE"), "public or private images"),
  cpu: flag("cpu", wholeNumber(1), "CPUs of the plan, exactly"),
  ram: flag("ram", wholeNumber(1), "Memory of the plan in GB, exactly"),
  minCpu: flag("min-cpu", wholeNumber(1), "CPUs of the plan, or more"),
  minRam: flag("min-ram", wholeNumber(1), "Memory of the plan in GB, or more"),
  series: flag("series", text("SERIES"), "Series of the plan"),
  os: flag("os", text("OS"), "Operating system"),
  // Before a command --version is the program's; behind these two it takes a value.
  osVersion: flag("version", text("VERSION"), "Version of the operating system"),
  plan: flag("plan", text("PLAN"), "Only this plan")
}

export const mibPerGb = 1024

/** Whether a size is large enough; one that is not known is not. */
const isAtLeast = (min: Option.Option<number>, size: number | null): boolean =>
  Option.match(min, { onNone: () => true, onSome: (least) => size !== null && size >= least })

/** Whether a plan is one that the flags ask for, as far as the service has no filter for it. */
export const isWanted =
  ({ minCpu, minRam, plan: named }: Values<typeof imageFilterFlags>) =>
  ({ memoryMib, plan, vcpus }: Pick<Plan, "plan" | "vcpus" | "memoryMib">): boolean =>
    Option.match(named, { onNone: () => true, onSome: (wanted) => plan.toLowerCase() === wanted.toLowerCase() }) &&
    isAtLeast(minCpu, vcpus) &&
    isAtLeast(
      Option.map(minRam, (gigabytes) => gigabytes * mibPerGb),
      memoryMib
    )

/** The filter that the flags ask for. */
export const imageFilter = (flags: Values<typeof imageFilterFlags>): ImageFilter => ({
  ...(Option.isSome(flags.type) && { type: flags.type.value }),
  ...(Option.isSome(flags.cpu) && { vcpus: flags.cpu.value }),
  ...(Option.isSome(flags.ram) && { memoryGb: flags.ram.value }),
  ...(Option.isSome(flags.series) && { series: flags.series.value }),
  ...(Option.isSome(flags.os) && { os: flags.os.value }),
  ...(Option.isSome(flags.osVersion) && { osVersion: flags.osVersion.value })
})
