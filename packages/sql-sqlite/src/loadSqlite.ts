/** Loads `node:sqlite` when it is used. Before Node 26 that prints an `ExperimentalWarning`, which is not for users. */
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
