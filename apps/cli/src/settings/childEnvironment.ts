/**
 * The environment of a program that berth starts for the user: that of berth without the credentials, which it could print, log or send on
 * (`SendEnv` of ssh), also those of the database that shares the rate limit and of the daemon. Other variables stay, proxies with passwords among them: they are the user's, for every program.
 * Its exit code is here, too.
 */
import { constants } from "node:os"
import { variables } from "@berthkit/terminal/variables"

const secret: ReadonlySet<string> = new Set([
  variables.apiKey,
  variables.accessToken,
  variables.allowanceStore,
  variables.watchToken
])

/** Names in any case: Windows does not tell them apart. */
export const childEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name.toUpperCase())))

/** The exit code of a program as a shell has it, also where a signal has ended it. */
export const shellCode = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? 128 + (signal === null ? 0 : constants.signals[signal])
