// Writes the plain types of the promise client to `src/promise/Records.ts`, from the schemas of the domain and the comments in
// its sources. A test holds the file against them.
import { readFileSync, writeFileSync } from "node:fs"
import { Schema, type SchemaAST } from "effect"
import { Allowance, KnownAllowance } from "../src/domain/Allowance.ts"
import { Attempt } from "../src/domain/Attempt.ts"
import { CommitmentSetting, CommittedOption, ForeignAmount } from "../src/domain/Commitment.ts"
import { ForeignPrice, Image, ImageFilter, OperatingSystem, SavedImage, Specs } from "../src/domain/Image.ts"
import { Lane } from "../src/domain/Lane.ts"
import { Node } from "../src/domain/Node.ts"
import { NodeSpec } from "../src/domain/NodeSpec.ts"
import { KnownStatus, NodeStatus } from "../src/domain/NodeStatus.ts"
import { Plan, PlanOption, PlanPrice, PlanSize, PlanSlug } from "../src/domain/Plan.ts"
import { Price } from "../src/domain/Price.ts"

const header = `/**
 * The arguments and results of the promise client as plain types: those of the domain, with instants as \`Date\`s, ids as numbers
 * and a status as a string. They mention no library, so a program needs none for its types. Generated from the domain by
 * \`pnpm --filter @berthkit/core records\`; a test compares the two.
 */

/** A status: a known one, or another in the service's own spelling; empty if the service states none. */
export type NodeStatus = KnownStatus | (string & {})
`

const footer = `/** Filters for plans and their images. A plan must match all that are given. */
export interface PlanFilter extends ImageFilter, PlanSize {}
`

/** Where a type is defined: its schema, its file, and the constant whose comment describes it. */
interface Source {
  readonly schema: Schema.Top
  readonly file: string
  readonly described?: string
}

const sources: Readonly<Record<string, Source>> = {
  KnownStatus: { schema: KnownStatus, file: "knownStatuses", described: "knownStatuses" },
  Lane: { schema: Lane, file: "Lane", described: "lanes" },
  CommitmentSetting: { schema: CommitmentSetting, file: "Commitment", described: "commitmentSettings" },
  Node: { schema: Node, file: "Node" },
  NodeSpec: { schema: NodeSpec, file: "NodeSpec" },
  ForeignAmount: { schema: ForeignAmount, file: "Commitment" },
  CommittedOption: { schema: CommittedOption, file: "Commitment" },
  OperatingSystem: { schema: OperatingSystem, file: "Image" },
  ForeignPrice: { schema: ForeignPrice, file: "Image" },
  Specs: { schema: Specs, file: "Image" },
  Image: { schema: Image, file: "Image" },
  SavedImage: { schema: SavedImage, file: "Image" },
  ImageFilter: { schema: ImageFilter, file: "Image" },
  PlanSize: { schema: PlanSize, file: "Plan" },
  Price: { schema: Price, file: "Price" },
  PlanPrice: { schema: PlanPrice, file: "Plan" },
  PlanSlug: { schema: PlanSlug, file: "Plan" },
  PlanOption: { schema: PlanOption, file: "Plan" },
  Plan: { schema: Plan, file: "Plan" },
  Allowance: { schema: Allowance, file: "Allowance" },
  KnownAllowance: { schema: KnownAllowance, file: "Allowance" },
  Attempt: { schema: Attempt, file: "Attempt" }
}

const names = new Map<SchemaAST.AST, string>([
  [Schema.DateTimeUtc.ast, "Date"],
  [NodeStatus.ast, "NodeStatus"],
  ...Object.entries(sources).map(([name, { schema }]) => [schema.ast, name] as const)
])

/** The type of a schema, in TypeScript. */
const typeOf = (ast: SchemaAST.AST): string => names.get(ast) ?? shapeOf(ast)

const shapeOf = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Undefined":
    case "Unknown":
      return ast._tag.toLowerCase()
    case "Literal":
      return JSON.stringify(ast.literal)
    case "Union":
      return ast.types.map(typeOf).join(" | ")
    case "Arrays":
      if (ast.elements.length === 0 && ast.rest.length === 1) return `ReadonlyArray<${typeOf(ast.rest[0]!)}>`
      break
    case "Objects":
      if (ast.propertySignatures.length === 0 && ast.indexSignatures.length === 1) {
        return `Readonly<Record<string, ${typeOf(ast.indexSignatures[0]!.type)}>>`
      }
  }
  throw new Error(`no plain type is known for the schema ${ast._tag}`)
}

const sourceOf = (file: string): string => readFileSync(new URL(`../src/domain/${file}.ts`, import.meta.url), "utf8")

/** Sources are cited for those who change the domain, and are not at hand for those who use the types. */
const citation = /\s*\((?:interface\.md|A\d)[^)]*\)/g

/** The comment above what `line` matches in a source, indented as there; empty without one. */
const commentAbove = (source: string, line: string): string => {
  const [, comment = ""] = new RegExp(`((?:^ *\\/\\*\\*(?:(?!\\*\\/)[^])*\\*\\/\\n)?)^${line}`, "m").exec(source) ?? []
  return comment.replaceAll(citation, "")
}

const printField = (source: string, { name, type }: SchemaAST.PropertySignature): string => {
  const mark = type.context?.isOptional === true ? "?" : ""
  const described = type.annotations?.["description"]
  // A schema that bundlers may drop stands in a function, and its fields further in.
  const comment = commentAbove(source, ` +${String(name)}:`).replaceAll(/^ +/gm, (indent) =>
    indent.replace(/^ {4}/, "  ")
  )
  return `${comment === "" && typeof described === "string" ? `  /** ${described} */\n` : comment}  readonly ${String(name)}${mark}: ${typeOf(type)}\n`
}

const printType = (name: string, { described = name, file, schema: { ast } }: Source): string => {
  const source = sourceOf(file)
  const comment = commentAbove(source, `export const ${described} =`)
  if (ast._tag !== "Objects") return `${comment}export type ${name} = ${shapeOf(ast)}\n`
  // A field of this name in another record of the file has its own comment.
  const [own = ""] = new RegExp(`^export const ${name} =[^]*?^export interface`, "m").exec(source) ?? []
  const fields = ast.propertySignatures.map((field) => printField(own, field))
  return `${comment}export interface ${name} {\n${fields.join("")}}\n`
}

/** The text of `src/promise/Records.ts`. */
export const printRecords = (): string =>
  [header, ...Object.entries(sources).map(([name, source]) => printType(name, source)), footer].join("\n")

if (import.meta.main) writeFileSync(new URL("../src/promise/Records.ts", import.meta.url), printRecords())
