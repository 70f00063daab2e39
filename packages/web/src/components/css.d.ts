/** The build joins the style sheets that modules import, in order, into the one style sheet of the page. */
declare module "*.css" {}
