/** Reads from the environment where the site is published: `SITE_BASE` is the path above it, `SITE_SOURCE` the address of its sources. */

const base = (process.env["SITE_BASE"] ?? "").replace(/\/$/, "")

/** An address of the site in the form of a link. */
export const address = (path: string): string => `${base}/${path}`

/** The address where the repository's files can be read, such as a folder on GitHub; undefined in a local build. */
export const source: string | undefined = process.env["SITE_SOURCE"]?.replace(/\/$/, "")
