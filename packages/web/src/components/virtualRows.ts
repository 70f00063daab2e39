/** Rows of equal height. The document holds only the visible ones, so ten thousand rows cost as much as thirty. */
import { useSignal } from "@preact/signals"
import { type RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/** Number of extra rows beyond each edge, so that scrolling shows no gap. */
const overscan = 8

interface Rows {
  /** The scrolling element. */
  readonly viewport: RefObject<HTMLElement | null>
  readonly count: number
  /** The height of a row in pixels. */
  readonly height: number
  /** The index of the row that always stays in the document, such as the row with the focus; -1 for none. */
  readonly kept: number
}

/** The indexes of the rows to render, in order. Each row's position is its index times the height. */
export const useVirtualRows = ({ count, height, kept, viewport }: Rows): ReadonlyArray<number> => {
  const seen = useSignal({ top: 0, height: 0 })
  useLayoutEffect(() => {
    const element = viewport.current!
    const look = () => {
      const { clientHeight, scrollTop } = element
      if (scrollTop !== seen.peek().top || clientHeight !== seen.peek().height) {
        seen.value = { top: scrollTop, height: clientHeight }
      }
    }
    look()
    element.addEventListener("scroll", look, { passive: true })
    // Look again, because the viewport grows when something above it disappears.
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => {
      element.removeEventListener("scroll", look)
      observer.disconnect()
    }
  }, [])
  const { height: room, top } = seen.value
  const first = Math.min(Math.max(0, Math.floor(top / height) - overscan), count)
  const last = Math.min(count, Math.ceil((top + room) / height) + overscan)
  const places = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  if (kept >= 0 && kept < first) places.unshift(kept)
  if (kept >= last && kept < count) places.push(kept)
  return places
}

/**
 * Scrolls just far enough to show a row. `place` is its index, `headHeight` the height of the fixed part above the rows, in
 * pixels.
 */
export const scrollToRow = (viewport: HTMLElement, place: number, height: number, headHeight: number): void => {
  const [top, bottom] = [place * height, (place + 1) * height]
  const room = viewport.clientHeight - headHeight
  if (top < viewport.scrollTop) viewport.scrollTop = top
  if (bottom > viewport.scrollTop + room) viewport.scrollTop = bottom - room
}
