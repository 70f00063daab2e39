/**
 * The settings that every command takes as flags, besides those that shape its data.
 */
import { Effect } from "effect"
import { GlobalSettings } from "../commandLine/GlobalSettings.ts"

/** Where the service is; wins over BERTH_BASE_URL. */
export const BaseUrl = Effect.map(GlobalSettings, ({ baseUrl }) => baseUrl)

/** Whether credentials may cross a network in plain text. */
export const AllowHttp = Effect.map(GlobalSettings, ({ allowHttp }) => allowHttp)

/** Which profile's account to use; wins over BERTH_PROFILE. */
export const Profile = Effect.map(GlobalSettings, ({ profile }) => profile)

/** Maximum time of the command, of all its calls and waits together. */
export const Deadline = Effect.map(GlobalSettings, ({ deadline }) => deadline)

/** Whether stderr shows every attempt. */
export const Debug = Effect.map(GlobalSettings, ({ debug }) => debug)
