/** Properties of the screen. */
import { signal } from "@preact/signals"

const narrow = matchMedia("(max-width: 42rem)")

/** Whether there is room for one column only, as in `controls.css`. */
export const isNarrow = signal(narrow.matches)
narrow.addEventListener("change", ({ matches }) => (isNarrow.value = matches))

const pixelsOfRem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

/** How many pixels a `rem` has, the unit of the style sheets. It follows the reader's font size. */
export const remPixels = signal(pixelsOfRem())
addEventListener("resize", () => (remPixels.value = pixelsOfRem()))
