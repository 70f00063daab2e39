// Runs the commands that the pages show, with the real programs against the mock service, and writes their output into the pages, between
// markers. The output is the same every time, because the mock has a fixed seed and a frozen clock, and only this script advances the
// clock, to let a node run. In sessions with the daemon the clock is not frozen, because a node that is older than the daemon's last list
// would count as discovered, not as created.
//
//   node scripts/captures.ts           renew the pages node scripts/captures.ts PAGE      renew one page, such as docs/recipes.md
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "@berthkit/testing/freePort"
import { apps, bundle } from "./bundle.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

interface Step {
  /** The command, or a comment. If a command ends with `&`, it keeps running. An empty string shows an empty line. */
  readonly run: string
  /** Whether the command runs without being shown. Default: it is shown. */
  readonly isHidden?: true
  /** How many lines of the output are shown. Default: all. */
  readonly maxLines?: number
  /** The name of a command that keeps running; absent for other commands. `until` is the output to wait for before the next step. */
  readonly job?: string
  readonly until?: RegExp
  /** When the command has printed this, the script advances the service's clock until the new node runs. */
  readonly created?: RegExp
  /** After this step, waits for this output of a job. `created` is as above, for the job's output. */
  readonly afterwards?: { readonly job: string; readonly created?: RegExp; readonly until: RegExp }
}

/** Commands that run in one shell. A page shows them as one or more blocks. */
interface Session {
  readonly page: string
  readonly blocks: Readonly<Record<string, ReadonlyArray<Step>>>
}

const order = "--plan C-4VCPU-16RAM-100DISK --image Ubuntu-24.04"
const smallOrder = "--plan C-2VCPU-8RAM-50DISK --image Ubuntu-24.04"
/** Columns without ids, because the ids depend on which create came first. */
const fleetColumns = "--columns action,member,plan,pricePerHourNowInr,pricePerHourAfterInr,differencePerMonthInr"
const account = "export BERTH_BASE_URL=http://127.0.0.1:4010 BERTH_API_KEY=berth-key BERTH_ACCESS_TOKEN=berth-token"

/** A shell command that prints the block of a page that begins with this line. */
const fileOf = (page: string, line: string) => `sed -n '/^${line}/,/^\`\`\`$/p' "$ROOT/${page}" | sed '$d'`

const sessions: ReadonlyArray<Session> = [
  {
    page: "README.md",
    blocks: {
      commands: [
        { run: "alias pnpm='npx --yes pnpm@12.21.0 --silent'   # if pnpm is not installed" },
        { run: "pnpm berth-server --port 4010 --provisioning 3s &", job: "server", until: /"pid"/ },
        { run: account },
        { run: `pnpm berth node create web ${order} --wait`, maxLines: 4, created: /: created \(/ },
        { run: "pnpm berth node list --columns id,name,status,memory,plan" },
        { run: "pnpm berth node list --query '[].publicIp'" },
        { run: "pnpm berth node get wbe" },
        { run: "" },
        { run: "export BERTH_WATCH_STORE=/tmp/berth-example.db" },
        {
          run: "pnpm berth-watch run --interval 1s | jq -r '[.type, .subject, .data.from, .data.to] | @tsv' &",
          job: "watch",
          until: /baseline/
        },
        {
          run: `pnpm berth node create web-2 ${order} > /dev/null`,
          afterwards: { job: "watch", created: /node\.created/, until: /status_changed/ }
        },
        // Show no output, because the shell itself prints messages about its jobs.
        { run: "kill %2 %1", maxLines: 0 }
      ]
    }
  },
  {
    page: "apps/cli/README.md",
    blocks: {
      formats: [
        {
          run: "pnpm berth-server --port 4010 --clock frozen --scenario small &",
          isHidden: true,
          job: "server",
          until: /"pid"/
        },
        { run: account, isHidden: true },
        { run: "berth plan list --ram 8 --sort price --columns plan,series,price,pricePerMonthInr" },
        { run: "berth node list --status running --columns id,name,status,memory,publicIp" },
        { run: "berth node delete web-1" },
        { run: "kill %1", isHidden: true }
      ]
    }
  },
  {
    page: "docs/recipes.md",
    blocks: {
      alert: [
        {
          run: "pnpm berth-server --port 4010 --clock frozen --provisioning 0s --termination 0s --scenario small &",
          isHidden: true,
          job: "server",
          until: /"pid"/
        },
        { run: account, isHidden: true },
        { run: `mkdir "$HOME/work" && cd "$HOME/work" && git init --quiet`, isHidden: true },
        { run: `git config user.name me && git config user.email me@example.com`, isHidden: true },
        // The files come from the page itself. Their service and port are replaced by the service and port of the session.
        { run: `${fileOf("docs/recipes.md", "# alert.yml")} > alert.yml`, isHidden: true },
        { run: `sed -i "s#https://api.example.com#$BERTH_BASE_URL#" alert.yml`, isHidden: true },
        { run: `echo "listen: $BERTH_WATCH_LISTEN" >> alert.yml`, isHidden: true },
        {
          run: "berth-watch run --config alert.yml --interval 1s --grace 1s | jq -r '[.type, .subject, .data.before.name, .data.cause] | @tsv' &",
          job: "alert",
          until: /"http"/,
          maxLines: 0
        },
        // The daemon must see the nodes before it can report them as deleted.
        {
          run: "until berth-watch nodes --config alert.yml | grep -q web-2; do sleep 0.2; done 2> /dev/null",
          isHidden: true
        },
        { run: "berth node delete web-1 --yes" },
        // With another state folder, the daemon cannot see who requested the change.
        { run: 'XDG_STATE_HOME="$HOME/other" berth node delete web-2 --yes', isHidden: true },
        { run: "# Somebody deletes web-2 in the account portal.", afterwards: { job: "alert", until: /node\.deleted/ } }
      ],
      plan: [
        {
          run: "berth plan list --min-cpu 4 --min-ram 8 --os Ubuntu --sort price --limit 3 --columns plan,price,pricePerMonthInr --quiet"
        },
        { run: `plan=$(berth plan list --min-cpu 4 --min-ram 8 --os Ubuntu --sort price --limit 1 -o id --quiet)` },
        { run: `berth node create api --plan "$plan" --image Ubuntu-24.04 --max-cost 10 -o id` }
      ],
      job: [
        {
          run: `berth run ${smallOrder} --name ci --ttl 30m --quiet -- sh -c 'echo "Testing $BERTH_NODE_IP"; exit 3'; echo $?`
        },
        { run: "berth node list --name ci -o id" }
      ],
      fleet: [
        { run: `${fileOf("docs/recipes.md", "# fleet.yaml")} > fleet.yaml`, isHidden: true },
        { run: `berth apply --dry-run --quiet ${fleetColumns}` },
        { run: "berth apply --yes --quiet --columns action,member,outcome" },
        { run: 'git add fleet.yaml fleet.ledger.json && git commit --quiet -m "Add the web nodes of the shop"' },
        { run: "berth diff --quiet --columns action,pricePerHourNowInr,differencePerHourInr; echo $?" }
      ],
      script: [
        { run: `printf '#!/bin/sh\necho "Welcome to the node" > /etc/motd\n' > setup.sh`, isHidden: true },
        {
          run: `mkdir ~/.ssh && echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOtGT5KyIH+ooez/Fbku9LnzU2MiRtM39WmdJKvmrlpW me@example.com' > ~/.ssh/id_ed25519.pub`,
          isHidden: true
        },
        { run: `echo 'test -d /var && echo "The node is set up"' > check.sh`, isHidden: true },
        { run: "cat setup.sh" },
        {
          run: `berth node create app ${smallOrder} --start-script setup.sh --ssh-key ~/.ssh/id_ed25519.pub --wait --quiet -o name`
        },
        { run: "cat check.sh" },
        { run: "berth node ssh app -- sh -s < check.sh" },
        { run: "kill %2 %1", isHidden: true }
      ]
    }
  },
  {
    page: "docs/fleets.md",
    blocks: {
      first: [
        {
          run: "pnpm berth-server --port 4010 --clock frozen --provisioning 0s &",
          isHidden: true,
          job: "server",
          until: /"pid"/
        },
        { run: account, isHidden: true },
        // The file comes from the page.
        {
          run: `mkdir "$HOME/shop" && cd "$HOME/shop" && ${fileOf("docs/fleets.md", "# yaml-language-server")} > fleet.yaml`,
          isHidden: true
        },
        { run: `berth apply --dry-run ${fleetColumns}` },
        { run: `berth apply --yes --quiet ${fleetColumns},outcome` },
        { run: "berth diff; echo $?" }
      ],
      change: [
        { run: "sed -i 's/count: 3/count: 2/' fleet.yaml" },
        { run: "berth apply --yes" },
        { run: `berth apply --yes --quiet --max-deletes 1 ${fleetColumns},outcome` }
      ],
      replace: [
        { run: "printf '#!/bin/sh\\nexit 0\\n' > ready.sh; chmod +x ready.sh", isHidden: true },
        { run: "sed -i '/web:/s/Ubuntu-24.04/Ubuntu-22.04/' fleet.yaml" },
        {
          run: "berth apply --yes --quiet --replace all --max-deletes 2 --ready-command ./ready.sh --columns action,member,image,outcome"
        }
      ],
      conflict: [
        { run: "sed -i 's/count: 2/count: 3/' fleet.yaml", isHidden: true },
        {
          run: "berth node create shop-web-3 --plan C-2VCPU-8RAM-50DISK --image Ubuntu-24.04 --quiet -o id",
          isHidden: true
        },
        { run: "berth apply --yes" },
        { run: "berth fleet adopt 97904 --as web-3" },
        { run: "kill %1", isHidden: true }
      ]
    }
  },
  {
    page: "docs/running-a-command.md",
    blocks: {
      run: [
        {
          run: "pnpm berth-server --port 4010 --clock frozen --provisioning 0s &",
          isHidden: true,
          job: "server",
          until: /"pid"/
        },
        { run: account, isHidden: true },
        { run: `berth run ${smallOrder} --name test --quiet -- sh -c 'echo "Testing $BERTH_NODE_IP"; exit 3'; echo $?` }
      ],
      reap: [
        // This command kills the `berth` that runs it.
        {
          run: `berth run ${smallOrder} --name job --quiet -- sh -c 'kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)' 2> /dev/null`,
          isHidden: true
        },
        { run: "berth reap" }
      ],
      reuse: [
        { run: `berth run --reuse ${smallOrder} --name job --quiet -- sh -c 'echo "Testing node $BERTH_NODE_ID"'` },
        { run: `berth run --reuse ${smallOrder} --name job --quiet -- sh -c 'echo "Testing node $BERTH_NODE_ID"'` },
        { run: "berth reap --within 1h" },
        { run: "kill %1", isHidden: true }
      ]
    }
  },
  {
    page: "docs/learning.md",
    blocks: {
      learn: [
        { run: "pnpm berth-server --port 4010 --scenario fleet:150 &", isHidden: true, job: "service", until: /"pid"/ },
        { run: account },
        { run: "pnpm berth-server learn --probe --profile /tmp/berth-learned.json", maxLines: 9 },
        { run: "pnpm berth-server learn --probe --check /tmp/berth-learned.json" },
        { run: "kill %1; wait %1", isHidden: true },
        {
          run: "pnpm berth-server --port 4010 --profile /tmp/berth-learned.json &",
          job: "mock",
          until: /"pid"/
        },
        { run: "kill %2", isHidden: true }
      ]
    }
  }
]

/** A replacement for `jq` if the machine has none. It knows only the filter that the pages show. */
const jq = `#!/usr/bin/env node
import { createInterface } from "node:readline"
for await (const line of createInterface({ input: process.stdin })) {
  const { data, subject, type } = JSON.parse(line)
  console.log([type, subject, data.from, data.to].join("\\t"))
}
`

/** Makes `jq` print each line at once, as it does at a terminal. */
const unbufferedJq = `#!/bin/sh
PATH=\${PATH#*:}
exec jq --unbuffered "$@"
`

/** A replacement for ssh, because there is no node to log in to: it runs the command on this machine. */
const ssh = `#!/bin/sh
shift
exec "$@"
`

const hasJq = () => spawnSync("sh", ["-c", "command -v jq"]).status === 0

/** Replaces pnpm and npx in the shell by the bundled programs. */
const commandNames = `
pnpm() {
  case $1 in
    berth) shift; berth "$@" ;;
    berth-server) shift; node "$ROOT/apps/server/bin/berth-server.mjs" "$@" ;;
    berth-watch) shift; node "$ROOT/apps/watch/bin/berth-watch.mjs" "$@" ;;
  esac
}
berth() { node "$ROOT/apps/cli/bin/berth.mjs" "$@"; }
berth-watch() { node "$ROOT/apps/watch/bin/berth-watch.mjs" "$@"; }
`

/**
 * How long a new node takes to run, on the service's clock. It is longer than any machine needs for a step, so that the node runs only
 * after the script advances the clock.
 */
const provisioningMillis = 3_600_000
/** Pause before the clock is advanced, so that the programs that watch the node see it as created. */
const pauseMillis = 1500

/** How long a step may take, including what jobs print after it. */
const maxStepMillis = 120_000

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** A shell that runs one command after the other and returns the output of each. */
class Shell {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #shownBy = new Map<string, number>()
  #printed = ""
  #steps = 0

  constructor(folder: string, env: Record<string, string>) {
    this.#folder = folder
    this.#child = spawn("bash", ["--noprofile", "--norc"], { env, stdio: ["pipe", "pipe", "inherit"] })
    this.#child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.#printed += text
    })
    // `set -m`: jobs work as in a terminal. `2>&1`: both streams keep the order in which programs write them.
    this.#child.stdin!.write(`set -m; exec 2>&1\n${commandNames}\n`)
  }

  async #until<A>(what: string, find: () => A | undefined): Promise<A> {
    for (let waited = 0; waited < maxStepMillis; waited += 50) {
      const found = find()
      if (found !== undefined) return found
      await pause(50)
    }
    throw new Error(`${what} did not end within ${maxStepMillis / 1000} s; it printed: ${this.#printed}`)
  }

  /** Runs a command to its end. Calls `act` once, when the command has printed the expected text. */
  async run(command: string, expected?: RegExp, act?: () => Promise<void>): Promise<string> {
    let acting: Promise<void> | undefined
    const end = `--- step ${++this.#steps} ---\n`
    // The command gets no stdin, because the shell reads the next commands from its own stdin. The colon is for an empty command, or one
    // that is only a comment.
    this.#child.stdin!.write(`{\n:\n${command}\n} < /dev/null\nprintf '%s' '${end}'\n`)
    const text = await this.#until(command, () => {
      if (expected?.test(this.#printed) === true) acting ??= act?.()
      const at = this.#printed.indexOf(end)
      if (at === -1) return undefined
      const text = this.#printed.slice(0, at)
      this.#printed = this.#printed.slice(at + end.length)
      return text
    })
    await acting
    return text
  }

  start(command: string, job: string): Promise<string> {
    return this.run(`{ ${command} } > '${join(this.#folder, job)}' 2>&1`)
  }

  /** Waits until a job has printed the expected text, and returns its output since the last read. */
  printedBy(job: string, expected: RegExp): Promise<string> {
    const from = this.#shownBy.get(job) ?? 0
    return this.#until(job, () => {
      const text = readFileSync(join(this.#folder, job), "utf8")
      if (!expected.test(text.slice(from)) || !text.endsWith("\n")) return undefined
      this.#shownBy.set(job, text.length)
      return text.slice(from)
    })
  }

  async end(): Promise<void> {
    this.#child.stdin!.end("for job in $(jobs -p); do kill -- -$job; done 2> /dev/null; wait; exit\n")
    await new Promise((resolve) => this.#child.once("close", resolve))
  }
}

/** Runs a session and returns its blocks by their names. */
const capture = async ({ blocks }: Session): Promise<ReadonlyMap<string, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "berth-captures-"))
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  writeFileSync(join(folder, "jq"), hasJq() ? unbufferedJq : jq)
  writeFileSync(join(folder, "ssh"), ssh)
  for (const program of ["jq", "ssh"]) chmodSync(join(folder, program), 0o755)
  // The addresses and paths that the pages show, and those that the session really uses, because other programs may use the shown ones.
  const places: ReadonlyArray<readonly [shown: string, here: string]> = [
    ["127.0.0.1:4010", `127.0.0.1:${await freePort()}`],
    ["127.0.0.1:9464", `127.0.0.1:${await freePort()}`],
    ["/tmp/berth-example.db", join(folder, "example.db")],
    ["/tmp/berth-learned.json", join(folder, "learned.json")]
  ]
  const [[, service]] = places as readonly [readonly [string, string]]
  const here = (command: string) =>
    places
      .reduce((text, [shown, there]) => text.replaceAll(shown, there), command)
      .replace("--provisioning 3s", `--provisioning ${provisioningMillis}ms`)
      .replace("--port 4010", `--port ${service.split(":")[1]}`)
  const shown = (text: string) =>
    places.reduce((all, [name, there]) => all.replaceAll(there, name), text).replace(/"pid":\d+/, '"pid":4711')

  const provision = async () => {
    await pause(pauseMillis)
    const body = JSON.stringify({ advance: `${provisioningMillis} millis` })
    const headers = { "content-type": "application/json" }
    const { ok, status } = await fetch(`http://${service}/_mock/default/clock`, { method: "POST", body, headers })
    if (!ok) throw new Error(`the clock of the service answers ${status}`)
  }

  const path = [folder, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter)
  const shell = new Shell(folder, { HOME: folder, PATH: path, ROOT: root, BERTH_WATCH_LISTEN: places[1]![1] })
  const captured = new Map<string, string>()
  try {
    for (const [name, steps] of Object.entries(blocks)) {
      let text = ""
      for (const { afterwards, created, isHidden, job, maxLines, run, until } of steps) {
        let printed =
          job === undefined ? await shell.run(here(run), created, provision) : await shell.start(here(run), job)
        if (job !== undefined && until !== undefined) printed += await shell.printedBy(job, until)
        if (afterwards !== undefined) {
          if (afterwards.created !== undefined) {
            printed += await shell.printedBy(afterwards.job, afterwards.created)
            await provision()
          }
          printed += await shell.printedBy(afterwards.job, afterwards.until)
        }
        if (isHidden === true) continue
        const lines = shown(printed)
          .split("\n")
          .slice(0, -1)
          .map((line) => line.trimEnd())
        const some = lines.slice(0, maxLines)
        const end = some.length > 0 && some.length < lines.length ? ["…"] : []
        text += [run === "" ? "" : `$ ${run}`, ...some, ...end, ""].join("\n")
      }
      captured.set(name, text)
    }
  } finally {
    await shell.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }
  return captured
}

/** Matches a block in its page. */
const placeOf = (name: string) =>
  new RegExp(`(<!-- captured: ${name} -->\n+\`\`\`console\n).*?(\`\`\`\n+<!-- end of ${name} -->)`, "s")

/** Replaces times that depend on the machine: how long a wait took, and how much of an hour is left. */
export const withoutTimes = (page: string): string =>
  page.replaceAll(/\((?:\d+ min )?\d+ s\)$/gm, "(0 s)").replaceAll(/ends in 59 min \d+ s\./g, "ends in 59 min.")

/** Each page with its present and its new text. If `only` is given, that page alone. */
export const capturedPages = async (only?: string) =>
  Promise.all(
    sessions
      .filter(({ page }) => only === undefined || page === only)
      .map(async (session) => {
        const path = join(root, session.page)
        const before = readFileSync(path, "utf8")
        let after = before
        for (const [name, text] of await capture(session)) {
          if (!placeOf(name).test(after)) throw new Error(`${session.page} has no place for ${name}`)
          after = after.replace(placeOf(name), (_, head: string, tail: string) => head + text + tail)
        }
        return { page: session.page, path, before, after }
      })
  )

if (import.meta.main) {
  for (const app of apps) await bundle(app)
  for (const { after, before, path } of await capturedPages(process.argv[2])) {
    if (withoutTimes(after) !== withoutTimes(before)) writeFileSync(path, after)
  }
}
