/** Rows of one height, of which only those in sight are in the document: ten thousand cost as much as thirty. */
import { useSignal } from "@preact/signals"
import { type RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/** Rows beyond the edges, so that scrolling shows no gap. */
const overscan = 8

interface Rows {
  /** What scrolls. */
  readonly viewport: RefObject<HTMLElement | null>
  readonly count: number
  /** In pixels. */
  readonly height: number
  /** The row that stays in the document wherever it is, such as the one with the focus; -1 for none. */
  readonly kept: number
}

/** The places of the rows that are to be in the document, in their order. Each stands at its place times the height. */
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
    // It gets larger when something above it ends.
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

/** Scrolls as far as a row needs to be in sight. `headHeight`: of what stays above the rows, in pixels. */
export const scrollToRow = (viewport: HTMLElement, place: number, height: number, headHeight: number): void => {
  const [top, bottom] = [place * height, (place + 1) * height]
  const room = viewport.clientHeight - headHeight
  if (top < viewport.scrollTop) viewport.scrollTop = top
  if (bottom > viewport.scrollTop + room) viewport.scrollTop = bottom - room
}
