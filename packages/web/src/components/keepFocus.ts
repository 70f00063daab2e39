/** Keeps the focus in lists, because a browser takes it away from an element that moves within the document. */
import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/** Restores the focus in a list whose rows change places. Call it while rendering the list. */
export const useKeptFocus = (list: RefObject<HTMLElement | null>): void => {
  const { activeElement } = document
  const active =
    activeElement instanceof HTMLElement && list.current?.contains(activeElement) ? activeElement : undefined
  useLayoutEffect(() => {
    if (active !== undefined && document.activeElement !== active && list.current?.contains(active) === true) {
      active.focus({ preventScroll: true })
    }
  })
}
