/** Loads `node:sqlite` on demand. Before Node 26 this prints an `ExperimentalWarning`, which users should not see. */
export const loadSqlite = (): typeof import("node:sqlite") => {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: ReadonlyArray<any>) => {
    if (rest[0] !== "ExperimentalWarning") Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return process.getBuiltinModule("node:sqlite")
  } finally {
    process.emitWarning = emitWarning
  }
}
