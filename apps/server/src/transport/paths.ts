/**
 * How paths are matched: they are what they say; only the trailing slash of the documented ones may be left out.
 */
import { longestUrlBytes } from "./limits.ts"

export const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: true,
  maxParamLength: longestUrlBytes
}
