/** What a list shows while there is nothing in it: why, and what to do next. */
import type { ComponentChildren } from "preact"

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <li class="empty">{children}</li>
