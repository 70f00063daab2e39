/** Installs a program from Debian if it is missing. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"

const aptGet = (...args: ReadonlyArray<string>) =>
  execFileSync("apt-get", [...args], {
    stdio: "ignore",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  })

/** Installs the package that has the same name as the program. */
export const install = (name: string): void => {
  if (["/usr/sbin", "/usr/bin"].some((folder) => existsSync(`${folder}/${name}`))) return
  aptGet("update")
  aptGet("install", "-y", "--no-install-recommends", name)
}
