import { serverUrl } from './server.js';

/** The server writes the deployment's name into the page. */
export const brand = {
  name: contentOf('application-name') || 'Gatehouse',
  /** Address of the logo; empty = the mark of this project. */
  logoUrl: contentOf('gatehouse-logo'),
  /** An https or mailto: address, or a text; empty = not configured. */
  support: contentOf('gatehouse-support'),
};

function contentOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

/** The logo and the name, in the colours of the theme. */
export function Brand({ withHost = false }: { readonly withHost?: boolean }) {
  return (
    <a class="brand" href="#overview">
      {brand.logoUrl === '' ? <Mark /> : <img src={brand.logoUrl} alt="" />}
      <span>{brand.name}</span>
      {withHost && <span class="hint">{new URL(serverUrl()).host}</span>}
    </a>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 25V9h4v3h3V9h4v3h3V9h4v16M12 25v-5a4 4 0 0 1 8 0v5M16 16.5V25" />
    </svg>
  );
}
