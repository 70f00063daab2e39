/**
 * The settings that every command takes as flags, besides those that shape its data. What help shows of them is in
 * `commandLine/globalFlags.ts`.
 */
import { allowHttpFlag, baseUrlFlag } from "@berth/terminal/Connection"
import { durationFlag } from "@berth/terminal/durationFlag"
import { Flag, GlobalFlag } from "effect/cli"
import { colours, globalFlags } from "../commandLine/globalFlags.ts"
import { switchFlag } from "./switches.ts"

/** Where the service is; wins over BERTH_BASE_URL. */
export const BaseUrl = GlobalFlag.Setting("base-url")({ flag: baseUrlFlag })

/** Whether credentials may cross a network in plain text. */
export const AllowHttp = GlobalFlag.Setting("allow-http")({ flag: allowHttpFlag })

/** Which profile's account to use; wins over BERTH_PROFILE. */
export const Profile = GlobalFlag.Setting("profile")({
  flag: Flag.String(globalFlags.profile.name).pipe(
    Flag.filter(
      (name) => name.trim() !== "",
      () => "expected the name of a profile"
    ),
    Flag.optional
  )
})

/** Maximum time of the command, of all its calls and waits together. */
export const Deadline = GlobalFlag.Setting("deadline")({
  flag: Flag.optional(durationFlag(globalFlags.deadline.name))
})

/** Whether stderr shows every attempt. */
export const Debug = GlobalFlag.Setting("debug")({ flag: switchFlag(globalFlags.debug.name, "") })

/** Read before the command line is parsed (`commandLine/rawFlag.ts`), since an error is printed with them too. */
const Quiet = GlobalFlag.Setting("quiet")({ flag: switchFlag(globalFlags.quiet.name, "") })
const Color = GlobalFlag.Setting("color")({
  flag: Flag.optional(Flag.Literals(globalFlags.color.name, colours))
})

/** All of them, for `Command.withGlobalFlags`. */
export const settingFlags = [BaseUrl, AllowHttp, Profile, Deadline, Debug, Quiet, Color] as const
