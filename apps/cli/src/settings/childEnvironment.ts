/**
 * The environment of a program that berth starts for the user. It does not contain the credentials of berth, of the shared database and of
 * the daemon, which the program could print, log or send on (`SendEnv` of ssh). Other variables stay, including proxies with passwords,
 * because the user set them for every program.
 */
import { variables } from "@berthkit/terminal/variables"

const secret: ReadonlySet<string> = new Set([
  variables.apiKey,
  variables.accessToken,
  variables.stateUrl,
  variables.watchToken
])

/** Ignores the case of names, because Windows does so. */
export const childEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secret.has(name.toUpperCase())))
