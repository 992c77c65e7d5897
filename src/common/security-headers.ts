import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** An answer is data: browsers run, frame and fetch nothing for it. */
const NOTHING = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
};

const DOCUMENTATION_PAGE = {
  ...NOTHING,
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
};

/** All its parts are files of this origin; no text becomes markup or a script. */
const ACCOUNT_PAGE = {
  ...NOTHING,
  baseUri: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ['data:'],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  workerSrc: ["'self'"],
  requireTrustedTypesFor: ["'script'"],
  // Its one policy makes the address of its service worker, and nothing else.
  trustedTypes: ['gatehouse-worker'],
};

/** It makes no address for a worker, and loads nothing of another origin but a logo. */
const ADMIN_CONSOLE = {
  ...NOTHING,
  baseUri: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ['data:'],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  requireTrustedTypesFor: ["'script'"],
  trustedTypes: ["'none'"],
};

/** It shows what a push holds: it loads and fetches nothing. */
const SERVICE_WORKER = {
  ...NOTHING,
  requireTrustedTypesFor: ["'script'"],
  trustedTypes: ["'none'"],
};

/** The headers that helmet sets, composed once: helmet composes them again for every response. */
export function securityHeaders() {
  return {
    // Most answers carry a token or an account's data; cacheable answers set their own value.
    answers: { ...headersWith(NOTHING), 'cache-control': 'no-store' },
    /** Of the page at /docs, which loads files of its own origin. */
    documentation: headersWith(DOCUMENTATION_PAGE),
  };
}

/**
 * Of the page at /app.
 *
 * @param imageSource where its logo is, as an origin or `'self'`; null = it has none of its own
 */
export function accountPageHeaders(imageSource: string | null = null): Record<string, string> {
  return headersWith(withImages(ACCOUNT_PAGE, imageSource));
}

/**
 * Of the console for administrators, at /admin of ADMIN_PORT.
 *
 * @param imageSource as of {@link accountPageHeaders}
 */
export function adminConsoleHeaders(imageSource: string | null = null): Record<string, string> {
  const headers = headersWith(withImages(ADMIN_CONSOLE, imageSource));
  return { ...headers, 'cross-origin-resource-policy': 'same-origin' };
}

function withImages<Page extends { readonly imgSrc: readonly string[] }>(
  page: Page,
  source: string | null,
) {
  return { ...page, imgSrc: [...page.imgSrc, ...(source === null ? [] : [source])] };
}

/** Of the script at /app/worker.js: a worker has a policy of its own. */
export function serviceWorkerHeaders(): Record<string, string> {
  return headersWith(SERVICE_WORKER);
}

/**
 * The headers of a page with one question and no script.
 *
 * @param styleHash SHA-256 of its one style element, in base64
 */
export function confirmationPageHeaders(styleHash: string): Record<string, string> {
  return headersWith({ ...NOTHING, formAction: ["'self'"], styleSrc: [`'sha256-${styleHash}'`] });
}

function headersWith(directives: Record<string, string[]>): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => undefined,
  };
  const collect = helmet({
    // Without the defaults: the server may well be reached over plain HTTP on a private network.
    contentSecurityPolicy: { useDefaults: false, directives },
    // Browsers ignore these, or read them only for embedded documents.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xPoweredBy: false,
    // Clients on other origins read these answers (CORS decides which).
    crossOriginResourcePolicy: false,
  });
  collect({} as IncomingMessage, response as unknown as ServerResponse, () => undefined);
  return headers;
}
