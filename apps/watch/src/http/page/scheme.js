// Light or dark: as the system has it, unless the reader of the page has chosen.

const schemeKey = "berth-watch-scheme"

const schemeChoice = document.getElementById("scheme")

const setScheme = (scheme) => {
  if (scheme === "") document.documentElement.removeAttribute("data-scheme")
  else document.documentElement.dataset.scheme = scheme
  schemeChoice.value = scheme
}

setScheme(localStorage.getItem(schemeKey) ?? "")

schemeChoice.onchange = ({ target }) => {
  localStorage.setItem(schemeKey, target.value)
  setScheme(target.value)
}
