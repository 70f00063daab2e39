/** `sentences.js` as text, for a page: it is beside this module, and beside the bundle. */
import { readAsset } from "@berthkit/web/readAsset"

export const sentencesScript = (): string => readAsset(new URL("./sentences.js", import.meta.url))
