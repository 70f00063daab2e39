// Configures how Astro turns the pages that `site/src/build.ts` has written into HTML.
import { readFileSync } from "node:fs"
import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"

const sidebar = JSON.parse(readFileSync(new URL("src/generated/sidebar.json", import.meta.url), "utf8"))

export default defineConfig({
  // Where the site is published: `SITE_URL` is the origin, `SITE_BASE` the path below it.
  ...(process.env.SITE_URL ? { site: process.env.SITE_URL } : {}),
  base: process.env.SITE_BASE || "/",
  trailingSlash: "always",
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  integrations: [
    starlight({
      title: "Berth",
      logo: { src: "./src/mark.svg", alt: "" },
      favicon: "/favicon.svg",
      customCss: ["@fontsource-variable/inter/index.css", "./src/styles/site.css"],
      sidebar,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        // A code block that scrolls must be reachable with the keyboard. A block that wraps need not be, because it does not scroll.
        defaultProps: { wrap: true },
        themes: ["github-dark-high-contrast", "github-light-high-contrast"],
        styleOverrides: {
          borderRadius: "0.5rem",
          borderColor: "var(--sl-color-gray-5)",
          codeFontSize: "0.84rem",
          codeLineHeight: "1.6",
          codeBackground: "var(--site-code-background)",
          frames: {
            shadowColor: "transparent",
            terminalBackground: "var(--site-code-background)",
            terminalTitlebarBackground: "var(--sl-color-bg-nav)",
            terminalTitlebarBorderBottomColor: "var(--sl-color-gray-5)"
          }
        },
        shiki: { langAlias: { console: "shellsession" } }
      }
    })
  ]
})
