/** A string of unknown direction, isolated so that it does not change the direction of the text around it. */
import { plain } from "./text.ts"

export const Isolated = ({ text }: { readonly text: string }) => <bdi>{plain(text)}</bdi>
