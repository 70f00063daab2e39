/**
 * Decides where a user's folders are. It has no imports, because the answers that do not need the whole of `berth` use it as well.
 */

/** The purposes of folders: state that must not be lost, a cache, and the user's configuration. */
export type FolderKind = "state" | "cache" | "config"

/** The paths below the home folder. */
const belowHome: Record<FolderKind, Record<"win32" | "darwin" | "others", string>> = {
  state: { win32: "AppData/Local", darwin: "Library/Application Support", others: ".local/state" },
  cache: { win32: "AppData/Local", darwin: "Library/Caches", others: ".cache" },
  config: { win32: "AppData/Roaming", darwin: "Library/Application Support", others: ".config" }
}

const isAbsolute = (folder: string, isWindows: boolean) => (isWindows ? /^([a-z]:)?[\\/]/i : /^\//).test(folder)

const trimmed = (folder: string) => folder.replace(/[\\/]+$/, "")

/** The variables that decide, in this order. The last one is that of the home folder. */
export const folderVariables = (kind: FolderKind, platform: string | undefined): ReadonlyArray<string> => {
  const named = `XDG_${kind.toUpperCase()}_HOME`
  return platform === "win32" ? [named, kind === "config" ? "APPDATA" : "LOCALAPPDATA", "USERPROFILE"] : [named, "HOME"]
}

/** The folder of `berth`, by the values of `folderVariables`. Undefined if the home folder is needed and not known. */
export const userFolder = (
  kind: FolderKind,
  platform: string | undefined,
  values: ReadonlyArray<string | undefined>
): string | undefined => {
  const isWindows = platform === "win32"
  const below = isWindows && kind === "cache" ? "berth/Cache" : "berth"
  const home = values.at(-1)
  for (const [at, value] of values.slice(0, -1).entries()) {
    if (value !== undefined && isAbsolute(value, isWindows)) return `${trimmed(value)}/${at === 0 ? "berth" : below}`
  }
  const place = belowHome[kind][platform === "win32" || platform === "darwin" ? platform : "others"]
  return home === undefined ? undefined : `${trimmed(home)}/${place}/${below}`
}
