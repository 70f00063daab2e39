/** Packages of Debian, for tests that have root. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"

/** Runs apt-get after those of other workers, because it fails while another one runs. */
export const aptGet = (args: ReadonlyArray<string>, cwd?: string): void => {
  execFileSync("flock", ["/run/lock/berth-apt-get", "apt-get", "-qq", ...args], {
    cwd,
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  })
}

/** Installs packages. */
export const installPackages = (...names: ReadonlyArray<string>): void => {
  aptGet(["update"])
  aptGet(["install", "-y", "--no-install-recommends", ...names])
}

/** Installs the package that has the same name as a program, if the program is missing. */
export const installProgram = (name: string): void => {
  if (!["/usr/sbin", "/usr/bin"].some((folder) => existsSync(`${folder}/${name}`))) installPackages(name)
}
