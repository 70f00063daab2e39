/**
 * Bundles for pages have this file instead of the code for files: the same names without code. Nothing in a page loads what keeps a
 * state directory or an allowance in files, or has a system's code to explain.
 */
export const layerOf = undefined
export const share = undefined
export const takeOver = undefined
export const fileReasonOf = (): undefined => undefined
