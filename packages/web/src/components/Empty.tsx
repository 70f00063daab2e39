/** Shown instead of an empty list: why it is empty, and what to do next. */
import type { ComponentChildren } from "preact"

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <li class="empty">{children}</li>
