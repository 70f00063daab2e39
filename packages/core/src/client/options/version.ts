/**
 * The version of this package, held to that in `package.json` by a test: a bundle has no such file to read.
 */
export const version = "0.1.0"
