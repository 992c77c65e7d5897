import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withMermaid } from 'vitepress-plugin-mermaid';

const DOCS = new URL('../../../docs/', import.meta.url);

/** The sidebar follows the sections and rows of docs/README.md. */
const sidebar = readFileSync(new URL('README.md', DOCS), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: [...section.matchAll(/^\| \[.+?\]\(([a-z-]+)\.md\) +\| (.+?) +\|/gm)].map(
      ([, page, subject]) => ({
        text: subject.charAt(0).toUpperCase() + subject.slice(1),
        link: `/${page}`,
      }),
    ),
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
  // Links to files of the repository are checked by test/docs/pages.spec.ts.
  ignoreDeadLinks: [/\.\.\//, /^\.\/(?:openapi|admin-openapi|backends-openapi|adr$)/, /\.py$/],
  markdown: { attrs: { disable: true } },
  // The pages are outside this folder, and their imports are resolved from their location.
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
  themeConfig: { search: { provider: 'local' }, outline: [2, 3], sidebar },
});
