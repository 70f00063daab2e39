/**
 * How images are shown.
 */
import { Image } from "@berth/core/domain/Image"
import { imageColumns } from "./imageColumns.ts"
import { encodeWith, type View } from "./print.ts"

export const imageView: View<Image> = { encode: encodeWith(Image), columns: () => imageColumns, none: "no such images" }
