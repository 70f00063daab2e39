/** Checks the colours of the common style sheet: each differs enough from the colour behind it. */
import { expect, test } from "vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const css = readFileSync(join(import.meta.dirname, "../src/controls.css"), "utf8")

const colours = new Map(
  Array.from(css.matchAll(/--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)/g), ([, name, light, dark]) => [
    name!,
    { light: light!, dark: dark! }
  ])
)

/** The relative luminance as WCAG defines it. */
const luminanceOf = (colour: string): number => {
  const [red, green, blue] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

const contrastOf = (one: string, other: string): number => {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** The pairs whose contrast is too low in one of the themes. */
const below = (contrast: number, pairs: ReadonlyArray<readonly [string, string]>) =>
  pairs.flatMap(([front, back]) =>
    (["light", "dark"] as const)
      .filter((theme) => contrastOf(colours.get(front)![theme], colours.get(back)![theme]) < contrast)
      .map((theme) => `${front} on ${back}, ${theme}`)
  )

test("an area of a tone can be distinguished from the sheet and from the empty part of a bar", () => {
  const fills = [...colours.keys()].filter((name) => name.endsWith("-fill"))
  expect(fills).toContain("off-fill")
  expect(
    below(
      3,
      fills.flatMap((fill) => ["sheet", "track"].map((back) => [fill, back] as const))
    )
  ).toEqual([])
})

test("a text of a tone can be read on its background and on the sheet", () => {
  const tones = ["good", "warm", "bad", "odd"]
  const pairs = tones.flatMap((tone) => [`${tone}-ground`, "sheet", "ground"].map((back) => [tone, back] as const))
  expect(below(4.5, [...pairs, ["faint", "plain-ground"], ["faint", "sheet"], ["faint", "ground"]])).toEqual([])
})
