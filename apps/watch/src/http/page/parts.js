// What several parts of the page are made of.
import { empty, make, paintRows, plain } from "@berthkit/web/rows.js"

export const byId = (id) => document.getElementById(id)

/** A button beside what it is about; `label` is read out instead of its text. */
export const smallButton = (text, label, onclick) =>
  make("button", { type: "button", className: "quiet small", text, ariaLabel: label, onclick })

/** A name with what there is to say of it. */
export const fact = (name, children, className = "") =>
  make("div", { children: [make("dt", { text: name }), make("dd", { className, children })] })

/** Shows a row for each value, or why there is none. */
export const paintRowsOrNone = (parent, values, keyOf, rowOf, noneText) =>
  values.length > 0 ? paintRows(parent, values, keyOf, rowOf) : paintRows(parent, [noneText], () => "none", empty)

/** Lets its reader choose none or one of some names. What they chose stays for as long as it is there. */
export const paintChoices = (select, none, names) => {
  const texts = [["", none], ...names.map((name) => [name, plain(name)])]
  if ([...select.options].map(({ value }) => value).join("\n") === texts.map(([value]) => value).join("\n")) return
  const { value } = select
  select.replaceChildren(...texts.map(([value, text]) => make("option", { value, text })))
  select.value = names.includes(value) ? value : ""
}

/** Has a dialog closed by its button, and by a click beside it. */
export const closeByReader = (dialog) => {
  byId(`${dialog.id}-close`).onclick = () => dialog.close()
  dialog.onclick = ({ target }) => {
    // Nothing is returned: false would keep events from unfolding.
    if (target === dialog) dialog.close()
  }
}
