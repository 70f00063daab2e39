/** Where the site is published, from the environment: `SITE_BASE` is the path that it is below, `SITE_SOURCE` where its sources are. */

const base = (process.env["SITE_BASE"] ?? "").replace(/\/$/, "")

/** An address of the site, as a link writes it. */
export const address = (path: string): string => `${base}/${path}`

/** Where files of the repository can be read, such as a folder of GitHub's; undefined in a build that is for reading here. */
export const source: string | undefined = process.env["SITE_SOURCE"]?.replace(/\/$/, "")
