/**
 * How Debian's Ansible and ssh use the inventory and the ssh configuration: with the commands of `docs/ansible-and-ssh.md`, a thousand
 * nodes, duplicates, and names that have a special meaning for Ansible or ssh.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { installPackages } from "@berthkit/testing/debian"
import { Program } from "@berthkit/testing/Program"
import { Effect, Schedule } from "effect"
import { inDialect } from "../../account.ts"
import { run, settings, start } from "../berth.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))
const page = readFileSync(new URL("../../../docs/ansible-and-ssh.md", import.meta.url), "utf8")
const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

beforeAll(() => {
  if (spawnSync("ansible-inventory", ["--version"]).status !== 0) installPackages("ansible-core")
})

/** A folder with `berth` and the script that Ansible runs, and the environment of a user. */
const user = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-inventory-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const script = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }
  script("berth", `exec '${process.execPath}' '${binary}' "$@"`)
  const inventory = script("inventory", 'exec berth inventory --ansible --max-age 10m "$@"')
  const env = {
    ...(yield* settings),
    HOME: folder,
    PATH: `${folder}${delimiter}${process.env["PATH"]}`,
    LC_ALL: "C.UTF-8"
  }
  return { folder, env, inventory }
})

type Env = Readonly<Record<string, string>>

/** Runs another program to its end, while the service keeps running. */
const execute = (command: string, args: ReadonlyArray<string>, env: Env, cwd?: string) =>
  Effect.scoped(
    Effect.flatMap(
      Program.start(() => new Program(command, args, { env, ...(cwd !== undefined && { cwd }) })),
      (program) => Effect.promise(() => program.ended)
    )
  )

const nodesNamed = (names: ReadonlyArray<string>): TestServerOptions => ({
  nodes: names.map((name) => ({ name }))
})

describe("docs/ansible-and-ssh.md", () => {
  const blocks = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, code]) => code!)

  it.live("has commands that work", () =>
    Effect.gen(function* () {
      const { env, folder } = yield* user
      assert.strictEqual((yield* run(["node", "create", "web", ...order, "--wait"], { env })).code, 0)
      writeFileSync(
        join(folder, "site.yml"),
        "- hosts: all\n  gather_facts: false\n  connection: local\n  tasks: [{ debug: { var: berth_id } }]\n"
      )
      mkdirSync(join(folder, ".ssh"))
      const [include] = Array.from(page.matchAll(/^```sshconfig\n(.*?)^```$/gms), ([, text]) => text!)
      writeFileSync(join(folder, ".ssh", "config"), include!)
      const [watch, ...others] = [...blocks].toReversed()
      assert.match(watch!, /--watch\n$/)
      // ssh reads the home folder from the user database, so the test mounts its folder there, in a mount namespace.
      const home = homedir()
      const script = `mount --bind '${folder}' '${home}' && cd '${home}' && export HOME='${home}' PATH="${home}:$PATH" && set -eux\n`
      const inHome = (text: string) => execute("unshare", ["--mount", "sh", "-c", script + text], env)
      const { code, stderr, stdout } = yield* inHome(others.toReversed().join("\n"))
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /\|--@plan_C_2VCPU_8RAM_50DISK:\n {2}\| {2}\|--web\n/)
      assert.match(stdout, /"ansible_host": "\d+\.\d+\.\d+\.\d+"/)
      assert.match(stdout, /web +: ok=1/)
      assert.match(stdout, /^hostname \d+\.\d+\.\d+\.\d+$/m)

      const config = join(folder, ".ssh", "berth.conf")
      const hosts = () => Array.from(readFileSync(config, "utf8").matchAll(/^Host (.+)$/gm), ([, name]) => name)
      const words = watch!.trim().replaceAll("~", folder).split(" ").slice(1)
      const running = yield* start([...words, "--interval", "1s"], { env })
      const until = (wanted: ReadonlyArray<string>) =>
        Effect.repeat(Effect.sync(hosts), {
          until: (now) => now.join() === wanted.join(),
          schedule: Schedule.spaced("50 millis")
        })
      yield* running.untilStderr("1 host.")
      yield* run(["node", "create", "web", ...order, "--wait"], { env })
      yield* until(["berth-web", "berth-web-2"])
      yield* run(["node", "delete", "web", "--yes"], { env })
      const ids = yield* run(["node", "list", "-o", "id"], { env })
      yield* run(["node", "delete", ids.stdout.trim().split("\n")[0]!, "--yes"], { env })
      yield* until(["berth-web"])
      yield* running.kill("SIGINT")
      assert.strictEqual((yield* running.ended).code, 130)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "300 millis" }))))
  )
})

/** Names that a shell, ssh or Ansible would misread. */
const hostile = [
  "localhost",
  "all",
  "*",
  "!web",
  "a b",
  "a\tb",
  "x\nHost *\n  ProxyCommand touch /tmp/owned",
  "-oProxyCommand=touch /tmp/owned",
  "{{ lookup('pipe', 'touch /tmp/owned') }}",
  "{% raw %}",
  "$(touch /tmp/owned)",
  "web[1:3]",
  "web:&db",
  "#web",
  "ünïcødé",
  '"web"',
  "plan_C_2VCPU_8RAM_50DISK",
  "_meta",
  "..",
  "web."
]

describe("a thousand nodes with duplicates and hostile names", () => {
  const names = [...hostile, ...Array.from({ length: 1000 - hostile.length }, (_, at) => `web-${at % 400}`)]

  it.live("are a thousand hosts to ansible-inventory, each at its own address, in one list of the service", () =>
    Effect.gen(function* () {
      const { env, inventory } = yield* user
      const { journal } = yield* TestServer
      const { code, stderr, stdout } = yield* execute("ansible-inventory", ["-i", inventory, "--list"], env)
      assert.strictEqual(code, 0, stderr)
      assert.notMatch(stderr, /warn|error|invalid/i)
      const { _meta, region_ncr } = JSON.parse(stdout) as {
        readonly _meta: { readonly hostvars: Record<string, { ansible_host: string; berth_id: number }> }
        readonly region_ncr: { readonly hosts: ReadonlyArray<string> }
      }
      const hosts = Object.entries(_meta.hostvars)
      assert.lengthOf(hosts, 1000)
      assert.lengthOf(region_ncr.hosts, 1000)
      for (const [name] of hosts) assert.match(name, /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)
      assert.strictEqual(new Set(hosts.map(([, { berth_id: id }]) => id)).size, 1000)
      assert.strictEqual(new Set(hosts.map(([, { ansible_host: address }]) => address)).size, 1000)
      const { length } = yield* journal
      assert.isAtMost(length, 12)
      // Once more, from the cache.
      assert.strictEqual((yield* execute("ansible-inventory", ["-i", inventory, "--graph"], env)).code, 0)
      assert.lengthOf(yield* journal, length)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect(nodesNamed(names)))))
  )

  it.live("run nothing in a playbook, and do not take the place of this machine", () =>
    Effect.gen(function* () {
      const { env, folder, inventory } = yield* user
      rmSync("/tmp/owned", { force: true })
      writeFileSync(
        join(folder, "site.yml"),
        [
          "- hosts: all:!web-*",
          "  gather_facts: false",
          "  connection: local",
          "  tasks:",
          "    - debug: { msg: '{{ inventory_hostname }} is {{ berth_name }}' }",
          "- hosts: localhost",
          "  gather_facts: false",
          "  tasks: [{ debug: { msg: 'here {{ ansible_connection }}' } }]",
          ""
        ].join("\n")
      )
      const { code, stderr, stdout } = yield* execute(
        "ansible-playbook",
        ["-i", inventory, join(folder, "site.yml")],
        env
      )
      assert.strictEqual(code, 0, stdout + stderr)
      assert.include(stdout, "lookup('pipe'")
      assert.include(stdout, "here local")
      assert.strictEqual(spawnSync("test", ["-e", "/tmp/owned"]).status, 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect(nodesNamed(hostile)))))
  )

  it.live("are a thousand hosts to ssh -G, each at its own address", () =>
    Effect.gen(function* () {
      const { env, folder } = yield* user
      const path = join(folder, "berth.conf")
      const ended = yield* run(["ssh-config", "--prefix", "b-", "--user", "ops", "--output", path], { env })
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.match(ended.stderr, /^\d+ nodes under another name: .+\n$/)
      const hosts = Array.from(
        readFileSync(path, "utf8").matchAll(/^Host (.+)\n {2}HostName (.+)\n {2}User ops$/gm),
        ([, name, address]) => [name!, address!] as const
      )
      assert.lengthOf(hosts, 1000)
      assert.strictEqual(new Set(hosts.map(([name]) => name)).size, 1000)
      // For each host, ssh reads the whole file, so test only the odd names and some of the others.
      for (const [name, address] of hosts.filter((_, at) => at < 2 * hostile.length || at % 10 === 0)) {
        const shown = execFileSync("ssh", ["-G", "-F", path, name], {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"]
        })
        assert.include(shown, `\nuser ops\nhostname ${address}\n`, name)
        assert.notInclude(shown, "proxycommand")
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect(nodesNamed(names)))))
  )
})
