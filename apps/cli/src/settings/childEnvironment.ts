/**
 * The environment of a program that berth starts for the user: that of berth without the credentials, which it could print, log or send on
 * (`SendEnv` of ssh), also those of the database that shares the rate limit and of the daemon. Other variables stay, proxies with passwords among them: they are the user's, for every program.
 */
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
