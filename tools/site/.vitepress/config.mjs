import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withMermaid } from 'vitepress-plugin-mermaid';

const DOCS = new URL('../../../docs/', import.meta.url);

/** The pages in the order of docs/README.md, by what a reader wants. */
const items = [
  ...readFileSync(new URL('README.md', DOCS), 'utf8').matchAll(
    /^\| (.+?) +\| .*?\]\(([a-z-]+)\.md\)/gm,
  ),
].map(([, wish, page]) => ({
  text: wish.charAt(0).toUpperCase() + wish.slice(1),
  link: `/${page}`,
}));

export default withMermaid({
  title: 'Gatehouse',
  description: 'Self-hosted access policy and notification delivery for clients that run sessions',
  lang: 'en',
  srcDir: fileURLToPath(DOCS),
  outDir: fileURLToPath(new URL('../../../dist/site', import.meta.url)),
  cacheDir: fileURLToPath(new URL('../../../.cache/site', import.meta.url)),
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  // Pages also link to files of the repository, which are no pages; test/pages.spec.ts checks those.
  ignoreDeadLinks: [/\.\.\//, /^\.\/(?:openapi|admin-openapi|adr$)/],
  markdown: { attrs: { disable: true } },
  // The pages are outside this folder, and their parts are looked up from where they are.
  vite: {
    resolve: {
      alias: [
        {
          find: /^vue$/,
          replacement: fileURLToPath(new URL('../node_modules/vue', import.meta.url)),
        },
        {
          find: /^vue\/server-renderer$/,
          replacement: fileURLToPath(
            new URL('../node_modules/vue/server-renderer', import.meta.url),
          ),
        },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: items,
  },
});
