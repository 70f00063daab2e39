// Shows values as text, never as markup, in rows that keep their elements while they stay the same.

/** C0 and C1 controls, line separators, marks and overrides of direction, halves of surrogate pairs: written out. */
const unsafe =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu

const written = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

const maxShown = 300

/** A text from elsewhere, harmless and not too long. */
export const plain = (text) => {
  const shown = text.replace(unsafe, written)
  return shown.length <= maxShown ? shown : `${shown.slice(0, maxShown).replace(/\p{Surrogate}$/u, "")}…`
}

/** The same for a text of several lines. */
export const plainLines = (text) =>
  text
    .split("\n")
    .map((line) => line.replace(unsafe, written))
    .join("\n")

/** An element with text, which is never markup. */
export const make = (tag, { children = [], text, ...properties } = {}) => {
  const element = Object.assign(document.createElement(tag), properties)
  if (text !== undefined) element.textContent = text
  element.append(...children)
  return element
}

/** A text of unknown direction, which does not turn its surroundings. */
export const isolated = (text) => make("bdi", { text: plain(text) })

export const tag = (text, tone = "") => make("span", { className: `tag ${tone}`, text })

export const empty = (text) => make("li", { className: "empty", text })

/** Sets a text only when it changes: a live region would be read out again. */
export const setText = (element, text) => {
  if (element.textContent !== text) element.textContent = text
}

/** A fold is its reader's, and an attribute of style would be refused by the policy of the page. */
const keptAttributes = new Set(["open", "style"])

/**
 * Makes an element what `next` is, as far as both have the same parts, and gives the one that is in the document. What is pressed,
 * selected or in focus stays: a button that is replaced between press and release is never clicked.
 */
export const renew = (element, next) => {
  if (element.nodeName !== next.nodeName || element.childNodes.length !== next.childNodes.length) {
    element.replaceWith(next)
    return next
  }
  if (element.nodeType === Node.TEXT_NODE) {
    if (element.data !== next.data) element.data = next.data
    return element
  }
  for (const name of element.getAttributeNames()) {
    if (!next.hasAttribute(name) && !keptAttributes.has(name)) element.removeAttribute(name)
  }
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name)
    if (element.getAttribute(name) !== value && !keptAttributes.has(name)) element.setAttribute(name, value)
  }
  if (element.style.cssText !== next.style.cssText) element.style.cssText = next.style.cssText
  Object.assign(element, { onclick: next.onclick, ontoggle: next.ontoggle })
  const parts = [...next.childNodes]
  for (const [index, child] of [...element.childNodes].entries()) renew(child, parts[index])
  return element
}

const paintedRows = new WeakMap()

/**
 * Shows a row for each value, in this order. A row whose key is the same as before stays the same element, in focus, unfolded or
 * selected as it is.
 */
export const paintRows = (parent, values, keyOf, rowOf) => {
  const before = paintedRows.get(parent) ?? new Map()
  const after = new Map()
  const active = parent.contains(document.activeElement) ? document.activeElement : undefined
  const focused = active && [...before].find(([, { row }]) => row.contains(active))?.[0]
  for (const value of values) {
    const key = keyOf(value)
    const content = JSON.stringify(value)
    const known = before.get(key)
    if (known === undefined) after.set(key, { content, row: rowOf(value) })
    else if (known.content === content) after.set(key, known)
    else after.set(key, { content, row: renew(known.row, rowOf(value)) })
  }
  paintedRows.set(parent, after)
  const rows = [...after.values()].map(({ row }) => row)
  for (const [key, { row }] of before) if (after.get(key)?.row !== row) row.remove()
  rows.forEach((row, index) => {
    if (parent.children[index] !== row) parent.insertBefore(row, parent.children[index] ?? null)
  })
  // An element that is moved or replaced loses the focus.
  if (focused === undefined || document.activeElement === active) return
  if (parent.contains(active)) active.focus({ preventScroll: true })
  else after.get(focused)?.row.querySelector("a, button:not([hidden]), summary")?.focus({ preventScroll: true })
}
