/**
 * Checks that imports between the folders of each workspace run only downwards, including imports of types.
 * `docs/architecture.md` states the order of the folders for people and for this check, in blocks that begin with
 * "```layers" and the name of the workspace's folder.
 */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const page = "docs/architecture.md"

/** The folders of a workspace, one line for each layer, the highest first. Folders on one line may not import each other. */
interface Stack {
  readonly folder: string
  /** The number of the line that names each folder or file. */
  readonly lineOf: ReadonlyMap<string, number>
}

/** The stacks in a page. The text after two or more spaces on a line is an explanation. */
const stacksOf = (markdown: string): ReadonlyArray<Stack> =>
  Array.from(markdown.matchAll(/^```layers (\S+)\n([^]*?)^```$/gm), ([, folder, lines]) => ({
    folder: folder!,
    lineOf: new Map(
      lines!
        .trimEnd()
        .split("\n")
        .flatMap((line, number) =>
          line
            .split(/ {2,}/)[0]!
            .split(" ")
            .map((name) => [name, number] as const)
        )
    )
  }))

const specifier = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g

/** The paths that a file imports: values, types, and modules that are loaded on demand. */
const importsOf = (root: string, file: string): ReadonlyArray<string> =>
  Array.from(readFileSync(join(root, file), "utf8").matchAll(specifier), ([, to]) => join(dirname(file), to!))

/** The entry of a stack that a file belongs to. If several entries contain the file, the longest one counts. */
const placeOf = ({ folder, lineOf }: Stack, file: string): string | undefined => {
  const path = relative(folder, file)
  for (let place = path; place !== "."; place = dirname(place)) if (lineOf.has(place)) return place
  return path.includes("/") ? undefined : lineOf.has(".") ? "." : undefined
}

/** The first circle of imports, including imports of types. */
const circleOf = (imports: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> | undefined => {
  const done = new Set<string>()
  const visit = (file: string, path: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
    const at = path.indexOf(file)
    if (at >= 0) return [...path.slice(at), file]
    if (done.has(file)) return undefined
    for (const to of imports.get(file) ?? []) {
      const circle = visit(to, [...path, file])
      if (circle !== undefined) return circle
    }
    done.add(file)
    return undefined
  }
  for (const file of imports.keys()) {
    const circle = visit(file, [])
    if (circle !== undefined) return circle
  }
  return undefined
}

const faultsOf = (root: string, stack: Stack): ReadonlyArray<string> => {
  const files = globSync(`${stack.folder}/**/*.{ts,tsx,js}`, { cwd: root }).toSorted()
  const imports = new Map(files.map((file) => [file, importsOf(root, file)]))
  const places = new Map(files.map((file) => [file, placeOf(stack, file)]))
  const faults = Array.from(places).flatMap(([file, place]) =>
    place === undefined ? [`${file} is in no layer: ${page} names none of its folders`] : []
  )
  const unused = Array.from(stack.lineOf.keys()).filter((name) => !Array.from(places.values()).includes(name))
  faults.push(...unused.map((name) => `${page} names ${stack.folder}/${name}, which holds no file`))
  for (const [file, targets] of imports) {
    const from = places.get(file)
    for (const target of targets) {
      const to = places.get(target)
      if (from === undefined || to === undefined || from === to) continue
      if (stack.lineOf.get(from)! < stack.lineOf.get(to)!) continue
      faults.push(`${file} imports ${target}: ${from} may not import ${to}, which is not below it`)
    }
  }
  const circle = circleOf(imports)
  if (circle !== undefined) faults.push(`a circle of imports: ${circle.join(" → ")}`)
  return faults
}

/** Every import that breaks the order in `docs/architecture.md`, one sentence each. */
export const layerFaults = (root: string): ReadonlyArray<string> => {
  const stacks = stacksOf(readFileSync(join(root, page), "utf8"))
  const drawn = new Set(stacks.map(({ folder }) => folder))
  const missing = globSync("{apps,packages}/*/src", { cwd: root }).filter((folder) => !drawn.has(folder))
  return [
    ...missing.map((folder) => `${page} draws no layers of ${folder}`),
    ...stacks.flatMap((stack) => faultsOf(root, stack))
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = layerFaults(join(import.meta.dirname, ".."))
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
