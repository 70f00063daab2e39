// Refuses `pnpm pack` and `npm pack` in a workspace, because they would pack sources that nobody outside can use.
console.error(
  "This folder cannot be packed by itself. Run `pnpm packages` at the root: it writes the packages to dist/packages."
)
process.exitCode = 1
