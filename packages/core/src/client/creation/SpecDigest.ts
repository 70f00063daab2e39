/**
 * What a create asks for, as a short text that another process can compare: two specs have the same digest when they ask for the
 * same node. It keeps no script, password or key of the spec readable.
 */
import type { NodeSpec } from "../../domain/NodeSpec.ts"

/** Sorted, each once: the order of tags and keys changes nothing about a node. None is the same as leaving them out. */
const set = (texts: ReadonlyArray<string> | undefined) =>
  texts === undefined || texts.length === 0 ? undefined : Array.from(new Set(texts)).toSorted()

/** The spec as a text, the same however it was written. */
const canonical = ({ region = "ncr", sshKeys, startScripts = [], tags, ...rest }: NodeSpec): string => {
  const fields: Readonly<Record<string, unknown>> = {
    ...rest,
    image: String(rest.image),
    region,
    sshKeys: set(sshKeys),
    tags: set(tags),
    // These run in their order.
    startScripts: startScripts.length === 0 ? undefined : startScripts
  }
  const given = Object.keys(fields).filter((name) => fields[name] !== undefined)
  return JSON.stringify(given.toSorted().map((name) => [name, fields[name]]))
}

/** The digest: SHA-256 as hex. Where there is no `node:crypto` there are no files either, and the text itself stays in memory. */
export const specDigest = (spec: NodeSpec): string => {
  const text = canonical(spec)
  const crypto = globalThis.process?.getBuiltinModule?.("node:crypto")
  return crypto === undefined ? text : crypto.createHash("sha256").update(text).digest("hex")
}
