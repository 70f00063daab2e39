/**
 * The container engine of this machine: docker if its daemon answers, otherwise podman. podman gets its own store and settings, so that it
 * also works as root inside a container: without control groups, and within the limits of such a root.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berthkit/testing/Program"
import { addNode } from "./nodeRoot.ts"

/** The image of the `FROM` lines. */
const baseImage = `docker.io/library/node:${process.versions.node}-slim`

/**
 * The runtime of podman refuses a machine with both kinds of control groups, even if the runtime uses none. This script hides one kind in a
 * mount namespace.
 */
const withOneKindOfControlGroups = `
  [ ! -d /sys/fs/cgroup/unified ] ||
    { umount --lazy --recursive /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup; } || exit
  exec podman "$@"`

const podmanSettings = `
[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
`

const podmanStore = (folder: string) => `
[storage]
driver = "vfs"
graphroot = "${folder}/images"
runroot = "${folder}/containers"
`

type Name = "docker" | "podman"

export class Engine implements Disposable {
  readonly #name: Name
  readonly #folder = mkdtempSync(join(tmpdir(), "berth-engine-"))
  readonly #command: readonly [string, ...ReadonlyArray<string>]
  readonly #env: NodeJS.ProcessEnv
  /**
   * Options that only podman's `build` needs. In podman's own format an image would lose its health check, and podman would keep a copy of
   * each step.
   */
  readonly #buildOptions: ReadonlyArray<string>

  private constructor(name: Name) {
    this.#name = name
    if (name === "docker") {
      this.#command = ["docker"]
      this.#env = process.env
      this.#buildOptions = []
      return
    }
    const [settings, store] = [join(this.#folder, "containers.conf"), join(this.#folder, "storage.conf")]
    writeFileSync(settings, podmanSettings)
    writeFileSync(store, podmanStore(this.#folder))
    this.#command = ["unshare", "--mount", "sh", "-c", withOneKindOfControlGroups, "podman"]
    this.#env = {
      ...process.env,
      CONTAINERS_CONF: settings,
      CONTAINERS_STORAGE_CONF: store,
      BUILDAH_ISOLATION: "chroot"
    }
    this.#buildOptions = ["--format", "docker", "--layers=false", "--pull=never"]
  }

  /** The first engine that can run a program in a container of the base image. Rejects with the reasons if none can. */
  static async find(): Promise<Engine> {
    const failures: Array<string> = []
    for (const name of ["docker", "podman"] as const) {
      const engine = new Engine(name)
      try {
        await engine.run("info")
        await engine.#addBaseImage()
        await engine.run("run", "--rm", "--network", "none", baseImage, "/usr/local/bin/node", "--version")
        return engine
      } catch (error) {
        failures.push(String(error))
        engine[Symbol.dispose]()
      }
    }
    throw new Error(failures.join("\n"))
  }

  /** Starts the engine with these arguments. */
  start(...args: ReadonlyArray<string>): Program {
    const [command, ...first] = this.#command
    return new Program(command, [...first, ...args], { env: this.#env, timeoutMillis: 120_000 })
  }

  /** Runs the engine with these arguments and returns its output. Rejects if it fails. */
  async run(...args: ReadonlyArray<string>): Promise<string> {
    const { code, stderr, stdout } = await this.start(...args).ended
    if (code !== 0) throw new Error(`${this.#name} ${args[0]} exited with ${code}: ${stderr.trim()}`)
    return stdout
  }

  async build(image: string, containerfile: string, context: string): Promise<void> {
    await this.run("build", ...this.#buildOptions, "--tag", image, "--file", containerfile, context)
  }

  /** Whether the health check of a container succeeds. docker runs it repeatedly by itself, podman only on request. */
  async isHealthy(container: string): Promise<boolean> {
    if (this.#name === "podman") return (await this.start("healthcheck", "run", container).ended).code === 0
    for (;;) {
      const status = (await this.run("inspect", "--format", "{{.State.Health.Status}}", container)).trim()
      if (status !== "starting") return status === "healthy"
    }
  }

  /** Adds the base image from its registry. If the registry cannot be reached, builds an image with the Node of the workspace. */
  async #addBaseImage(): Promise<void> {
    const isThere = async (...args: ReadonlyArray<string>) => (await this.start(...args).ended).code === 0
    if (await isThere("image", "inspect", baseImage)) return
    if (this.#name === "docker" && (await isThere("pull", "--quiet", baseImage))) return
    const [root, archive] = [join(this.#folder, "root"), join(this.#folder, "root.tar")]
    mkdirSync(root)
    chmodSync(root, 0o755)
    addNode(root)
    execFileSync("tar", ["-C", root, "-cf", archive, "."])
    await this.run("import", archive, baseImage)
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
