/**
 * Completions in real shells, with keys typed in a terminal: in bash, and also in zsh and fish if they are installed (Debian has packages).
 * Needs `script` for the terminal.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { cachePath, writeCache } from "@berthkit/cli/completions"
import { Program } from "@berthkit/testing/Program"
import { describe, expect, it, onTestFinished } from "vitest"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

const shells = {
  bash: { start: "bash --norc --noprofile -i", load: 'eval "$(berth completion bash)"' },
  zsh: { start: "zsh -f -i", load: 'autoload -U compinit; compinit -u -D; eval "$(berth completion zsh)"' },
  "zsh before compinit": {
    start: "zsh -f -i",
    load: 'eval "$(berth completion zsh)"; autoload -U compinit; compinit -u -D'
  },
  fish: { start: "fish --no-config -i", load: "berth completion fish | source" }
} as const

/** A shell in a terminal. Its `berth` gives the real completions, and otherwise only prints its arguments. */
const open = async (shell: keyof typeof shells) => {
  const home = mkdtempSync(join(tmpdir(), "berth-shell-"))
  const stub = join(home, "berth")
  writeFileSync(
    stub,
    `#!/bin/sh\ncase $1 in __*|completion) exec '${process.execPath}' '${binary}' "$@" ;; esac\nprintf 'RAN'; printf '<%s>' "$@"; echo\n`
  )
  chmodSync(stub, 0o755)
  const env = {
    HOME: home,
    PATH: `${home}:${process.env["PATH"]}`,
    TERM: "xterm",
    LANG: "C.UTF-8",
    BERTH_BASE_URL: "http://127.0.0.1:1",
    BERTH_API_KEY: "the-key-of-a-test",
    BERTH_ACCESS_TOKEN: "the-token-of-a-test"
  }
  const nodes = ["web-1", "data base", "it's"].map((value) => ({ value, description: "7, running" }))
  const plans = [{ value: "C-2VCPU-8RAM-50DISK", description: "₹6.46 per hour" }]
  const images = [{ value: "Ubuntu-22.04", description: "" }]
  mkdirSync(join(home, ".config", "berth"), { recursive: true })
  const profiles = {
    work: { baseUrl: "http://127.0.0.1:1", apiKey: "a-key-of-a-test", accessToken: "a-token-of-a-test" }
  }
  writeFileSync(
    join(home, ".config", "berth", "profiles.json"),
    JSON.stringify({ version: 1, current: null, profiles }),
    { mode: 0o600 }
  )
  writeCache(cachePath(env, {}), { writtenMillis: Date.now(), values: { nodes, plans, images } })
  const { load, start } = shells[shell]
  const terminal = new Program("script", ["--quiet", "--flush", "--command", start, "/dev/null"], {
    env,
    isInputOpen: true
  })
  onTestFinished(async () => {
    terminal.child.stdin.end("exit\n")
    await terminal[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  terminal.child.stdin.write(`${load}; echo LOA''DED\n`)
  await terminal.printed("LOADED")
  return terminal
}

const isInstalled = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0
const installed = (Object.keys(shells) as ReadonlyArray<keyof typeof shells>).filter(
  (shell) => shell === "bash" || isInstalled(shell.split(" ")[0]!)
)

describe.each(installed)("in %s", (shell) => {
  it.each([
    ["a command", "berth pro\t list", "<profile><list>"],
    ["a verb", "berth node de\t", "<node><delete>"],
    ["a flag", "berth node list --statu\t running", "<node><list><--status><running>"],
    ["a choice", "berth node list --status ru\t", "<node><list><--status><running>"],
    ["a further choice", "berth node list --status running,pow\t", "<node><list><--status><running,power-off>"],
    ["a further column", "berth node list --columns id,na\t", "<node><list><--columns><id,name>"],
    ["a column to sort by, reversed", "berth node list --sort -cre\t", "<node><list><--sort><-created>"],
    ["a choice behind =", "berth node list --output=js\t", "<node><list><--output=json>"],
    ["the name of a node", "berth node get we\t", "<node><get><web-1>"],
    ["a name with a blank", "berth node get dat\t", "<node><get><data base>"],
    ["the node to watch", "berth node watch we\t", "<node><watch><web-1>"],
    ["the node of an address", "berth node ip we\t", "<node><ip><web-1>"],
    ["the node to log in to", "berth node ssh we\t", "<node><ssh><web-1>"],
    ["a node, then its setting", "berth commitment set we\t auto_t\t", "<commitment><set><web-1><auto_terminate>"],
    ["a plan", "berth node create web --plan C-\t", "<node><create><web><--plan><C-2VCPU-8RAM-50DISK>"],
    ["a plan as an argument", "berth plan get C-\t", "<plan><get><C-2VCPU-8RAM-50DISK>"],
    ["an image", "berth node create web --image Ub\t", "<node><create><web><--image><Ubuntu-22.04>"],
    ["a profile", "berth profile use wo\t", "<profile><use><work>"],
    ["a profile as a flag", "berth node list --profile wo\t", "<node><list><--profile><work>"],
    ["a name with a quote", "berth node get it\t", "<node><get><it's>"]
  ])("Tab completes %s", async (_, keys, expected) => {
    const terminal = await open(shell)
    terminal.child.stdin.write(`${keys}\n`)
    expect(await terminal.printed(/RAN[^\r\n]*\r?\n/)).toMatch(`RAN${expected}`)
  })
})
