// Makes a release: packs the packages and tests the tarballs with every package manager and runtime. The workflow `release.yml` then
// publishes the same tarballs, with their provenance. Versions and change logs come first: `pnpm changeset version`, in a separate commit.
//
//   node scripts/release.ts              from the commit of a release
//   node scripts/release.ts --dry-run    from any commit: report what a release would refuse, and try the publishing
import { execFileSync, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { fillPackages, packFolder, publishedHomes } from "./pack.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const into = join(root, "dist/packages")
const isDryRun = process.argv.includes("--dry-run")

/** Runs a program whose failure ends the release. */
const run = (command: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): void => {
  console.log(`$ ${command} ${args.join(" ")}`)
  const { status } = spawnSync(command, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } })
  if (status !== 0) stop(`${command} ${args[0]} failed`)
}

/** Ends the release with one sentence. */
const stop = (sentence: string): never => {
  console.error(`${sentence}: nothing more is published.`)
  process.exit(1)
}

/** Names of our packages under which the registry already has a package of another repository. */
const namesTaken = (): ReadonlyArray<string> =>
  publishedHomes.flatMap((home) => {
    const { name, repository } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"))
    const { status, stdout } = spawnSync("npm", ["view", name, "name", "repository.url", "--json"], {
      encoding: "utf8"
    })
    if (status !== 0) return []
    return repository !== undefined && JSON.parse(stdout)["repository.url"] === repository.url ? [] : [name]
  })

/**
 * Names of our packages whose manifest has no `repository`. npm publishes provenance only for the repository that the
 * manifest names.
 */
const namesWithoutRepository = (): ReadonlyArray<string> =>
  publishedHomes.flatMap((home) => {
    const { name, repository } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"))
    return repository === undefined ? [name] : []
  })

/** What is wrong with the tag that started the release; empty if no tag started it. */
const tagFaults = (): ReadonlyArray<string> => {
  const { GITHUB_REF_NAME: tag = "", GITHUB_REF_TYPE: kind } = process.env
  if (kind !== "tag") return []
  return publishedHomes.flatMap((home) => {
    const { name, version } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"))
    return tag === `v${version}` ? [] : [`the tag is ${tag}, and ${name} has the version ${version}`]
  })
}

/**
 * Checks that everything is committed, that the change logs have all changes, and that the package names are ours. If not,
 * ends the release; a dry run only reports it.
 */
const checkState = (): void => {
  const taken = namesTaken()
  const anonymous = namesWithoutRepository()
  const changed = execFileSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" })
  const pending = globSync(".changeset/*.md", { cwd: root })
  const faults = [
    ...tagFaults(),
    ...(taken.length === 0 ? [] : [`the registry has ${taken.join(", ")} from another repository`]),
    ...(anonymous.length === 0 ? [] : [`the field repository is missing in ${anonymous.join(", ")}`]),
    ...(changed === "" ? [] : ["there are changes that are in no commit"]),
    ...(pending.length === 0 ? [] : ["there are changesets that are in no change log: run `pnpm changeset version`"])
  ]
  for (const fault of faults) {
    if (!isDryRun) stop(fault)
    console.log(`A release would stop here: ${fault}.`)
  }
}

checkState()

const tarballs = (await fillPackages(into)).map(packFolder)
run("vitest", ["run", "--project", "install"], { BERTH_TARBALLS: tarballs.join(delimiter) })

const sums = tarballs.map(
  (path) => `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${basename(path)}\n`
)
writeFileSync(join(into, "SHA256SUMS"), sums.join(""))
console.log(sums.join(""))

if (isDryRun) {
  // Set `--tag`, because npm would otherwise compare the version with the versions of the package that now has this name.
  for (const tarball of tarballs) {
    run("npm", ["publish", tarball, "--access", "public", "--dry-run", "--tag", "dry-run"])
  }
}
console.log(isDryRun ? "Everything but the publishing itself works." : `Ready to be published: ${into}`)
