import { accentShades } from '../../common/accent.js';

export interface Brand {
  readonly name: string;
  /** An https address, a path on the host of the server, or `data:`; null = the mark of this project. */
  readonly logoUrl: string | null;
  /** `#rrggbb`; null = the colour of the style sheet. */
  readonly accent: string | null;
  /** Where refused people ask for help; null = not configured. */
  readonly support: string | null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeText(value: string): string {
  return value.replace(/[&<>"']/g, (one) => ESCAPES[one] ?? one);
}

export function brandedPage(html: string, { name, logoUrl, accent, support }: Brand): string {
  // Replacement functions, because `$` is special in a replacement text.
  const named = html
    .replace('<title>Gatehouse</title>', () => `<title>${escapeText(name)}</title>`)
    .replace(
      /(<meta name="application-name" content=")[^"]*/,
      (_all, start) => start + escapeText(name),
    )
    .replace(
      /(<meta name="gatehouse-support" content=")[^"]*/,
      (_all, start) => start + escapeText(support ?? ''),
    );
  const marked =
    logoUrl === null
      ? named
      : named
          .replace(/(<meta name="gatehouse-logo" content=")[^"]*/, (_all, start) => {
            return start + escapeText(logoUrl);
          })
          .replace(
            /<link\s+rel="icon"[^>]*>/,
            () => `<link rel="icon" href="${escapeText(logoUrl)}" />`,
          );
  const style = '<link rel="stylesheet" href="./brand.css" />';
  return accent === null ? marked : marked.replace('</head>', () => `  ${style}\n  </head>`);
}

/** Returns an empty text without a colour. */
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

/**
 * On another origin, a path would resolve to another host.
 * @param publicUrl null = unknown: a logo with a path is omitted
 */
export function brandElsewhere(brand: Brand, publicUrl: string | null): Brand {
  const { logoUrl } = brand;
  if (!logoUrl?.startsWith('/')) {
    return brand;
  }
  return { ...brand, logoUrl: publicUrl && new URL(logoUrl, publicUrl).href };
}

/** For the Content-Security-Policy; null = nothing more. */
export function imageSource(logoUrl: string | null): string | null {
  if (logoUrl === null || logoUrl.startsWith('data:')) {
    return null;
  }
  return logoUrl.startsWith('/') ? "'self'" : new URL(logoUrl).origin;
}
