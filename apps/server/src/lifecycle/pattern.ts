/**
 * Patterns of names, headers, paths: `*` is any text, `?` one character.
 */

/** Whether a name matches a pattern, in which `*` stands for any text and `?` for one character; case counts. */
export const matches = (pattern: string, name: string): boolean => {
  let [p, n] = [0, 0]
  // Where to resume when the rest after the last `*` does not fit: one character further into the name.
  let [star, resume] = [-1, 0]
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++
      resume = n
    } else if (pattern[p] === "?" || pattern[p] === name[n]) {
      p += 1
      n += 1
    } else if (star >= 0) {
      p = star + 1
      n = ++resume
    } else return false
  }
  while (pattern[p] === "*") p += 1
  return p === pattern.length
}
