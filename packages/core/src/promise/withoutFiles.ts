/**
 * Bundles for pages have this file instead of `client/AccountFolder.ts` and `client/allowance/OwnProcesses.ts`: the same names without
 * code. Nothing in a page loads the latter, because a page has no store.
 */
export const allowanceLayer = undefined
export const layerOf = undefined
export const share = undefined
export const takeOver = undefined
