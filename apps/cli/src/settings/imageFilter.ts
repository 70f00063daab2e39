/**
 * The filters that `image list` and `plan list` share: those by which the service narrows its image list, which
 * are exact, and those that it does not have.
 */
import type { ImageFilter } from "@berthkit/core/domain/Image"
import type { Plan } from "@berthkit/core/domain/Plan"
import { flag, oneOf, text, type Values, wholeNumber, withoutUndefined } from "../commandLine/Parameter.ts"

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
const isAtLeast = (min: number | undefined, size: number | null): boolean =>
  min === undefined || (size !== null && size >= min)

/** Whether a plan is one that the flags ask for, as far as the service has no filter for it. */
export const isWanted =
  ({ minCpu, minRam, plan: named }: Values<typeof imageFilterFlags>) =>
  ({ memoryMib, plan, vcpus }: Pick<Plan, "plan" | "vcpus" | "memoryMib">): boolean =>
    (named === undefined || plan.toLowerCase() === named.toLowerCase()) &&
    isAtLeast(minCpu, vcpus) &&
    isAtLeast(minRam && minRam * mibPerGb, memoryMib)

/** The filter that the flags ask for. */
export const imageFilter = ({ cpu, os, osVersion, ram, series, type }: Values<typeof imageFilterFlags>): ImageFilter =>
  withoutUndefined({ type, vcpus: cpu, memoryGb: ram, series, os, osVersion })
