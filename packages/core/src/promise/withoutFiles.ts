/**
 * Bundles for pages have this file instead of `client/AccountFolder.ts` and `client/allowance/OwnProcesses.ts`: the same names without code.
 * A page keeps no files.
 */
export const layerOf = undefined
export const share = undefined
export const takeOver = undefined
