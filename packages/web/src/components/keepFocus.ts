/** A browser takes the focus from an element that is moved. */
import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"

/** Gives the focus back to what had it in a list whose rows change places. Called while the list is rendered. */
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
