/**
 * Bundles for pages have this file instead of `client/AccountFolder.ts`, `client/allowance/OwnProcesses.ts` and `domain/fileReason.ts`:
 * the same names without code. A page keeps no files, so no file fails there.
 */
export const layerOf = undefined
export const share = undefined
export const takeOver = undefined
export const fileReasonOf = (): undefined => undefined
