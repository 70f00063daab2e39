/** The build gathers the style sheets that modules import, in their order, into the one of the page. */
declare module "*.css" {}
