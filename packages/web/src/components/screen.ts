/** What the page is shown on. */
import { signal } from "@preact/signals"

const narrow = matchMedia("(max-width: 42rem)")

/** Whether there is room for one column only, as `controls.css` has it. */
export const isNarrow = signal(narrow.matches)
narrow.addEventListener("change", ({ matches }) => (isNarrow.value = matches))

const pixelsOfRem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

/** The unit of the style sheets, which follows the size of letters that the reader has chosen, in pixels. */
export const remPixels = signal(pixelsOfRem())
addEventListener("resize", () => (remPixels.value = pixelsOfRem()))
