import { accentShades } from '../../common/accent.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import { namespaceOf, variablesOf, type Checked, type ValuesOf } from './environment/variable.js';

const brand = variablesOf('Account page');

export const BRAND_VARIABLES = {
  SERVICE_BRAND_NAME: brand(
    {
      type: 'string',
      default: 'Gatehouse',
      pattern: /^[^\p{C}\p{Zl}\p{Zp}]{1,40}$/u,
      shape: 'a name of 1 to 40 printable characters',
    },
    'Name of the deployment on the account page and the console, and in their titles.',
  ),
  SERVICE_BRAND__LOGO_URL: brand(
    {
      type: 'string',
      default: null,
      // Excludes characters that end a directive of the Content-Security-Policy or an attribute.
      pattern:
        /^(https:\/\/[a-z0-9.-]+(:\d+)?\/[^\s"'<>;,\\]*|\/[^\s"'<>;,\\/][^\s"'<>;,\\]*|data:image\/(svg\+xml|png|webp|jpeg);base64,[a-zA-Z0-9+/=]+)$/,
      shape:
        'an https address, a path on this host such as /brand/logo.svg, or data:image/svg+xml;base64,…',
    },
    'Logo and icon of the account page and the console, 32 to 48 pixels high. The pages load images only from its origin. Empty = the mark of this project.',
  ),
  SERVICE_BRAND__ACCENT: brand(
    { type: 'string', default: null, pattern: /^#[0-9a-fA-F]{6}$/, shape: 'a colour like #1f3fa8' },
    'Colour of buttons and links. The pages use a darker or lighter shade where it is hard to read. Empty = green.',
  ),
  SERVICE_SUPPORT_URL: brand(
    {
      type: 'string',
      default: null,
      // A text may be anything but an address that would look like a link and is none: before its first
      // colon stands more than the name of a scheme, or after it a blank. Helm's schema knows no lookahead.
      pattern:
        /^(https:\/\/[^/?#@\s"'<>\\]+([/?#][^\s"'<>\\]{0,400})?|mailto:[^\s"'<>?@]+@[^\s"'<>?@]+(\?[^\s"'<>]*)?|[^\p{C}\p{Zl}\p{Zp}:]{1,200}|[^\p{C}\p{Zl}\p{Zp}:]{0,80}[^\p{C}\p{Zl}\p{Zp}:a-z0-9+.-][^\p{C}\p{Zl}\p{Zp}:]{0,80}:[^\p{C}\p{Zl}\p{Zp}]{0,40}|[^\p{C}\p{Zl}\p{Zp}:]{1,100}:[ ][^\p{C}\p{Zl}\p{Zp}]{1,100})$/iu,
      shape:
        'an https address without a user name, mailto: with an e-mail address, or a text of 1 to 200 printable characters',
    },
    'Where people ask for help when the server refuses them: shown on the account page, by the command line and in `GET /v1/features`, which anyone can read. Empty = the operator, without an address.',
  ),
};

export const brandConfig = namespaceOf('brand', ({ values }: Checked<typeof BRAND_VARIABLES>) => ({
  name: values.SERVICE_BRAND_NAME,
  /** null = the mark of this project. */
  logoUrl: values.SERVICE_BRAND__LOGO_URL,
  /** `#rrggbb`; null = the colour of the style sheet. */
  accent: values.SERVICE_BRAND__ACCENT,
  /** An https or mailto: address, or a text; null = none. */
  support: values.SERVICE_SUPPORT_URL,
}));

export type BrandSettings = ReturnType<typeof brandConfig>;

/** Limit of the logo, which every visit to the page loads. */
const MAX_LOGO_CHARACTERS = 32_768;

/** An unreadable colour is only a warning, because the page replaces it. */
export function checkBrand(
  values: ValuesOf<typeof BRAND_VARIABLES>,
  report: ConfigurationReport,
): void {
  if ((values.SERVICE_BRAND__LOGO_URL?.length ?? 0) > MAX_LOGO_CHARACTERS) {
    report.problem(
      'SERVICE_BRAND__LOGO_URL',
      `must have at most ${MAX_LOGO_CHARACTERS} characters.`,
    );
  }
  const color = values.SERVICE_BRAND__ACCENT?.toLowerCase() ?? null;
  if (color === null || report.has('SERVICE_BRAND__ACCENT')) {
    return;
  }
  const { light, dark } = accentShades(color);
  if (light.accent !== color && dark.accent !== color) {
    report.warn(
      `SERVICE_BRAND__ACCENT has too little contrast: the page uses ${light.accent} in the light theme and ${dark.accent} in the dark one.`,
    );
  }
}
