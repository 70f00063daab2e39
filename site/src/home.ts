/** Takes the content of the home page from the README: what Berth is, the reasons for it, and one terminal session. */

export interface Home {
  /** A description of Berth, in one sentence of plain text. */
  readonly summary: string
  /** The text by which readers find out whether Berth is for them. */
  readonly isForYou: string
  readonly reasons: ReadonlyArray<{ readonly title: string; readonly text: string }>
  /** The commands with their output, up to the first empty line. */
  readonly terminal: string
  /** Width and height of the pictures of the dashboard. */
  readonly picture: { readonly width: number; readonly height: number }
}

const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")

const found = (text: string, pattern: RegExp, what: string): ReadonlyArray<string> => {
  const [, ...groups] = pattern.exec(text) ?? []
  if (groups.length === 0) throw new Error(`the README has no ${what}`)
  return groups.map((group) => group ?? "")
}

export const homeOf = (readme: string, picture: Home["picture"]): Home => {
  const [summary = "", isForYou = ""] = found(
    readme,
    /^# .*\n+(.*?\.) \*\*(.*)$/m,
    "first sentence with a question behind it"
  )
  const reasons = Array.from(readme.matchAll(/^- \*\*(.*?)\*\* (.*)$/gm), ([, title, text]) => ({
    title: title!.replace(/[.:]$/, ""),
    text: plain(text!).replace(/:$/, ".")
  })).slice(0, 3)
  if (reasons.length < 3) throw new Error("the README has no three reasons")
  const [terminal = ""] = found(readme, /^<!-- captured: commands -->\n+```console\n(.*?)(?:^$|^```)/ms, "capture")
  return {
    summary: plain(summary),
    isForYou: plain(isForYou.replaceAll("**", "")),
    reasons,
    // The alias for pnpm matters only on the next page, where readers run the commands.
    terminal: terminal.replace(/^\$ alias .*\n/, "").trimEnd(),
    picture
  }
}
