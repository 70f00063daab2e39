/**
 * The filters that `image list` and `plan list` share. The service applies some of them itself, and berth applies the others.
 */
import type { ImageFilter } from "@berthkit/core/domain/Image"
import { flag, oneOf, text, type Values, wholeNumber, withoutUndefined } from "../commandLine/Parameter.ts"

export const imageFilterFlags = {
  type: flag("type", oneOf(["public", "private"], "TYPE"), "public or private images"),
  cpu: flag("cpu", wholeNumber(1), "Exactly this many CPUs"),
  ram: flag("ram", wholeNumber(1), "Exactly this much memory in GB"),
  minCpu: flag("min-cpu", wholeNumber(1), "At least this many CPUs"),
  minRam: flag("min-ram", wholeNumber(1), "At least this much memory in GB"),
  series: flag("series", text("SERIES"), "Series of the plan"),
  os: flag("os", text("OS"), "Operating system"),
  // Before a command, --version prints the version of berth. After these two commands it is this flag, which takes a value.
  osVersion: flag("version", text("VERSION"), "Version of the operating system"),
  plan: flag("plan", text("PLAN"), "Only this plan")
}

/** The filter of the flags. */
export const imageFilter = ({ cpu, os, osVersion, ram, series, type }: Values<typeof imageFilterFlags>): ImageFilter =>
  withoutUndefined({ type, vcpus: cpu, memoryGb: ram, series, os, osVersion })
