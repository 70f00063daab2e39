/**
 * The entry point: answers quick requests at once, and loads the program for everything else.
 */
import type { AccountFlags } from "./completion/CompletionCache.ts"
import { printText } from "./output/printText.ts"
import { quickAnswer } from "./quick.ts"

/** Starts another process that reads the completion values again, and does not wait for it. */
const refresh = async ({ location, profile, project, userAgent }: AccountFlags) => {
  const { spawn } = await import("node:child_process")
  const flags = Object.entries({ profile, project, location, "user-agent": userAgent }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`]
  )
  const args = [process.argv[1]!, "__values", ...flags]
  spawn(process.execPath, args, { detached: true, stdio: "ignore" }).unref()
}

const args = process.argv.slice(2)
const answer = quickAnswer(args, {
  stdout: process.stdout,
  env: process.env,
  refresh,
  // oxlint-disable-next-line no-restricted-properties -- nothing of Effect is loaded here, and no test freezes this clock
  nowMillis: Date.now()
})

if (answer === undefined) void import("./cli.ts").then(({ runProcess }) => runProcess(args))
else printText(answer)
