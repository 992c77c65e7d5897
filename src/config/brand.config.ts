import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';

const brand = variablesOf('Account page');

/** How the account page and the console present the deployment. */
export const BRAND_VARIABLES = {
  SERVICE_BRAND_NAME: brand(
    {
      type: 'string',
      default: 'Gatehouse',
      pattern: /^[^\p{C}\p{Zl}\p{Zp}]{1,40}$/u,
      shape: 'a name of 1 to 40 printable characters',
    },
    'Name of the deployment, on the account page and the console and in their titles.',
  ),
  SERVICE_BRAND__LOGO_URL: brand(
    {
      type: 'string',
      default: null,
      // No character that ends a directive of the Content-Security-Policy or an attribute.
      pattern:
        /^(https:\/\/[a-z0-9.-]+(:\d+)?\/[^\s"'<>;,\\]*|\/[^\s"'<>;,\\/][^\s"'<>;,\\]*|data:image\/(svg\+xml|png|webp|jpeg);base64,[a-zA-Z0-9+/=]+)$/,
      shape:
        'an https address, a path on this host such as /brand/logo.svg, or data:image/svg+xml;base64,…',
    },
    'Logo of the account page and the console, shown 32 to 48 pixels high, and their icon. The pages may load images of its origin only. Empty = the mark of this project.',
  ),
  SERVICE_BRAND__ACCENT: brand(
    { type: 'string', default: null, pattern: /^#[0-9a-fA-F]{6}$/, shape: 'a colour like #1f3fa8' },
    'Colour of buttons and links. Where it would be hard to read, the pages use a darker shade in the light theme and a lighter one in the dark theme. Empty = green.',
  ),
} as const satisfies Record<string, Variable>;

export const brandConfig = namespaceOf('brand', ({ values }) => ({
  name: values.SERVICE_BRAND_NAME,
  /** null = the mark of this project. */
  logoUrl: values.SERVICE_BRAND__LOGO_URL,
  /** `#rrggbb`; null = the colour of the style sheet. */
  accent: values.SERVICE_BRAND__ACCENT,
}));
