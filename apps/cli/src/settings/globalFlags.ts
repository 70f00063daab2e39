/**
 * The flags that every command takes, besides `--output`, `--help` and `--version`.
 */
import { baseUrlFlag } from "@berth/terminal/Connection"
import { GlobalFlag } from "effect/cli"
import { switchFlag } from "./switches.ts"

/** Where the service is; wins over BERTH_BASE_URL. */
export const BaseUrl = GlobalFlag.Setting("base-url")({ flag: baseUrlFlag })

/** Whether stderr shows every attempt. */
export const Debug = GlobalFlag.Setting("debug")({ flag: switchFlag("debug", "Show every request on stderr") })
