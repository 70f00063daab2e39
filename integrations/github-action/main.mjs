// Starts `berth run`, which holds the node for as long as the job lasts, and passes on the node's id and address.
import { spawn } from "node:child_process"
import { appendFileSync, mkdtempSync, openSync } from "node:fs"
import { join } from "node:path"
import {
  dataOf,
  environment,
  filesIn,
  input,
  isRunning,
  readOr,
  say,
  show,
  startOf,
  temporary,
  until
} from "./common.mjs"

const fail = (message) => {
  say(`::error::${dataOf(message)}`)
  process.exit(1)
}

for (const name of ["api-key", "access-token"]) if (input(name) !== "") say(`::add-mask::${dataOf(input(name))}`)

const files = filesIn(mkdtempSync(join(temporary, "berth-action-")))
// Do this first, because the post step needs the folder to clean up after this step, even if this step fails.
appendFileSync(process.env.GITHUB_STATE, `folder=${files.folder}\n`)

const flag = (name) => (input(name) === "" ? [] : [`--${name}`, input(name)])
const args = [
  "run",
  ...["plan", "image", "name", "ttl", "max-cost"].flatMap(flag),
  ...input("ssh-key")
    .split("\n")
    .map((key) => key.trim())
    .filter(Boolean)
    .flatMap((key) => ["--ssh-key", key]),
  ...(input("reuse") === "true" ? ["--reuse"] : []),
  "--",
  process.execPath,
  join(import.meta.dirname, "hold.mjs"),
  files.folder
]

// The shell writes its own process id and start before it becomes `berth`, so `berth` never runs without a record.
const script = `{ cat "/proc/$$/stat" 2>/dev/null || LC_ALL=C ps -o stat=,lstart= -p $$; } > "$0.start"; echo $$ > "$0" && exec "$@"`
const log = openSync(files.log, "a")
const child = spawn("sh", ["-c", script, files.pid, input("berth") || "berth", ...args], {
  detached: true,
  stdio: ["ignore", log, log],
  env: environment()
})
const run = { pid: child.pid ?? 0, start: child.pid === undefined ? undefined : startOf(child.pid) }
// Save these in the runner's state as well, because a step of the job may empty the folder for temporary files.
if (run.start !== undefined) appendFileSync(process.env.GITHUB_STATE, `pid=${run.pid}\nstart=${run.start}\n`)
let isEnded = false
child.once("exit", () => (isEnded = true)).once("error", () => (isEnded = true))

const day = 86_400_000
const found = await until(() => {
  const node = readOr(files.node)
  return node ?? (isEnded || !isRunning(run) ? "" : undefined)
}, day)
show(readOr(files.log) ?? "")
if (!found) fail("There is no node for this job: see the lines above.")

const { id, ip } = JSON.parse(found)
appendFileSync(process.env.GITHUB_OUTPUT, `node-id=${id}\nnode-ip=${ip}\n`)
say(`Node ${id} at ${ip} is this job's until it ends.`)
// `berth run` continues without this process.
process.exit(0)
