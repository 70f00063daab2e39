/**
 * The types of the platform that the client takes. A program may compile without the libraries that declare them, with `es2022` alone: there
 * they are what the client needs of them.
 */

/** The global names that the program's TypeScript knows: they differ between browsers, Node and neither. */
type Globals = typeof globalThis

/** The instances of a class of the platform. */
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
