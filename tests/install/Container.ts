/**
 * Carries out a `Containerfile` step by step, without a container engine. It copies the same files into an empty root and runs the same
 * commands there. Then it runs the program as the same user, in a separate network and on a read-only root. Needs Linux and root.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { addNode } from "./nodeRoot.ts"

interface Instruction {
  readonly name: string
  readonly text: string
}

const instructionsOf = (file: string): ReadonlyArray<Instruction> =>
  readFileSync(file, "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", text = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
      return { name, text: text.trim() }
    })

/** A script that mounts what an engine mounts, makes the rest read-only, and then executes the program. The mounts end with the program. */
const isolate = `
  mount --bind "$1" "$1" && cd "$1" &&
  mount -t proc proc proc && mount --rbind /dev dev && mount -t tmpfs tmpfs tmp &&
  { [ ! -d state ] || mount --bind state state; } &&
  ip link set lo up && mount -o remount,bind,ro "$1" && user=$2 && shift 2 &&
  exec chroot --userspec="$user" . "$@"`

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A program whose network the container shares. Default: none. */
  readonly network?: Program
}

export class Container {
  readonly root = mkdtempSync(join(tmpdir(), "berth-container-"))
  readonly #env: Record<string, string> = { PATH: "/usr/local/bin" }
  #user = "0:0"
  #entry: ReadonlyArray<string> = []
  #command: ReadonlyArray<string> = []
  /** The health check that an engine would run; empty if there is none. */
  healthCheck: ReadonlyArray<string> = []

  constructor(file: string, context: string) {
    chmodSync(this.root, 0o755)
    for (const { name, text } of instructionsOf(file)) this.#take(name, text, context)
  }

  #take(name: string, text: string, context: string): void {
    switch (name) {
      case "FROM":
        return addNode(this.root)
      case "COPY": {
        const [from = "", to = ""] = text.split(" ")
        return cpSync(join(context, from), join(this.root, to), { recursive: true })
      }
      case "RUN":
        return void execFileSync("/usr/sbin/chroot", [this.root, ...JSON.parse(text)], {
          env: this.#env,
          stdio: "pipe"
        })
      case "ENV":
        for (const [, key, value] of text.matchAll(/(\w+)="([^"]*)"/g)) this.#env[key!] = value!
        return
      case "USER":
        this.#user = text
        return
      case "ENTRYPOINT":
        this.#entry = JSON.parse(text)
        return
      case "CMD":
        this.#command = JSON.parse(text)
        return
      case "HEALTHCHECK":
        this.healthCheck = text === "NONE" ? [] : JSON.parse(text.slice(text.indexOf("[")))
        return
      case "EXPOSE":
      case "LABEL":
      case "STOPSIGNAL":
      case "VOLUME":
        return
      default:
        throw new Error(`${name} is not known here`)
    }
  }

  /** Starts the program with these arguments instead of those of `CMD`, in its own network or in that of another started program. */
  start(args: ReadonlyArray<string> = this.#command, { env = {}, network }: StartOptions = {}): Program {
    return this.#run([...this.#entry, ...args], env, network)
  }

  /** Runs the health check in the network of a program. */
  checkHealth(of: Program, env: Readonly<Record<string, string>> = {}): Program {
    return this.#run(this.healthCheck, env, of)
  }

  #run(command: ReadonlyArray<string>, env: Readonly<Record<string, string>>, network: Program | undefined): Program {
    const shell = ["sh", "-c", isolate, "sh", this.root, this.#user, ...command]
    const own = ["/usr/bin/unshare", "--mount", "--propagation", "private"]
    const [start = "", ...args] =
      network === undefined
        ? [...own, "--net", ...shell]
        : ["/usr/bin/nsenter", `--net=/proc/${network.child.pid}/ns/net`, ...own, ...shell]
    return new Program(start, args, {
      env: { ...this.#env, ...env, PATH: `${this.#env["PATH"]}:/usr/sbin:/usr/bin:/bin` }
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}
