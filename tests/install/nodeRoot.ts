/**
 * Copies into a folder what a program needs from Node's image: the Node that runs this test, its libraries, and a folder for temporary
 * files.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, copyFileSync, mkdirSync } from "node:fs"
import { dirname, join } from "node:path"

/** Copies a file of this machine to the same place in the root. */
const copyTo = (root: string, path: string, as = path): void => {
  mkdirSync(dirname(join(root, as)), { recursive: true })
  copyFileSync(path, join(root, as))
}

export const addNode = (root: string): void => {
  copyTo(root, process.execPath, "/usr/local/bin/node")
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" }).match(/\/\S+(?= \()/g) ?? []
  for (const library of libraries) copyTo(root, library)
  for (const folder of ["proc", "dev", "tmp"]) mkdirSync(join(root, folder))
  chmodSync(join(root, "tmp"), 0o1777)
}
