/**
 * The version of this package. A test compares it with `package.json`, which a bundle cannot read.
 */
export const version = "0.1.0"
