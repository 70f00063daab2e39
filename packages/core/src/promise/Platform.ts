/**
 * The platform types of the client's options. If a program compiles without the libraries that declare them, with `es2022` only, these
 * types are reduced to what the client needs.
 */

/** The global names that the program's TypeScript knows, which differ between browsers and Node. */
type Globals = typeof globalThis

/** The instances of a platform class. */
type InstanceOf<Name extends string, Otherwise> = Globals extends {
  readonly [_ in Name]: { readonly prototype: infer Instance }
}
  ? Instance
  : Otherwise

/** An `AbortSignal`. */
export type Signal = InstanceOf<"AbortSignal", { readonly aborted: boolean; readonly reason: unknown }>

/** A `URL`. */
export type Address = InstanceOf<"URL", { readonly href: string }>

/** The type of `fetch`. */
export type Fetch = Globals extends { readonly fetch: infer Fetch } ? Fetch : (...of: Array<never>) => Promise<unknown>
