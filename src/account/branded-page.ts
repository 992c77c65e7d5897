import type { ConfigType } from '@nestjs/config';
import type { brandConfig } from '../config/brand.config.js';
import { accentShades } from '../policy/brand/accent.js';

export type Brand = ConfigType<typeof brandConfig>;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** The page as it was built, with the name, the logo and the colour of this deployment. */
export function brandedPage(html: string, { name, logoUrl, accent }: Brand): string {
  const text = (value: string) => value.replace(/[&<>"]/g, (one) => ESCAPES[one] ?? one);
  // Functions: `$` has a meaning in a replacement.
  const named = html
    .replace('<title>Gatehouse</title>', () => `<title>${text(name)}</title>`)
    .replace(/(<meta name="application-name" content=")[^"]*/, (_all, start) => start + text(name));
  const marked =
    logoUrl === null
      ? named
      : named
          .replace(/(<meta name="gatehouse-logo" content=")[^"]*/, (_all, start) => {
            return start + text(logoUrl);
          })
          .replace(/<link\s+rel="icon"[^>]*>/, () => `<link rel="icon" href="${text(logoUrl)}" />`);
  const style = '<link rel="stylesheet" href="./brand.css" />';
  return accent === null ? marked : marked.replace('</head>', () => `  ${style}\n  </head>`);
}

/** The colours of a deployment that has its own; empty otherwise. */
export function brandStyle({ accent }: Brand): string {
  if (accent === null) {
    return '';
  }
  const { light, dark } = accentShades(accent);
  return `:root {
  --brand-accent: light-dark(${light.accent}, ${dark.accent});
  --brand-on-accent: light-dark(${light.onAccent}, ${dark.onAccent});
}
`;
}

/** What the Content-Security-Policy allows for the logo; null = nothing more. */
export function imageSource(logoUrl: string | null): string | null {
  if (logoUrl === null || logoUrl.startsWith('data:')) {
    return null;
  }
  return logoUrl.startsWith('/') ? "'self'" : new URL(logoUrl).origin;
}
