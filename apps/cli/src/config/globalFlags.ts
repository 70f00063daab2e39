/**
 * The flags that every command takes, besides `--output`, `--help` and `--version`.
 */
import { Flag, GlobalFlag } from "effect/cli"

/** Where the service is; wins over BERTH_BASE_URL. */
export const BaseUrl = GlobalFlag.Setting("base-url")({
  flag: Flag.String("base-url").pipe(
    Flag.withMetavar("URL"),
    Flag.withDescription("The service's address; default $BERTH_BASE_URL"),
    Flag.optional
  )
})

/** Whether every attempt is told on stderr. */
export const Debug = GlobalFlag.Setting("debug")({
  flag: Flag.Boolean("debug").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Tell every request on stderr"),
    Flag.withDefault(false)
  )
})
