import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Browsers execute, frame and load nothing for an answer. */
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

/** All parts are files of this origin, and text never becomes markup or a script. */
const PAGE = {
  ...NOTHING,
  baseUri: ["'self'"],
  connectSrc: ["'self'"],
  imgSrc: ['data:'],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
};

const ACCOUNT_PAGE = {
  ...PAGE,
  manifestSrc: ["'self'"],
  workerSrc: ["'self'"],
  requireTrustedTypesFor: ["'script'"],
  // The only policy, which creates the address of the service worker.
  trustedTypes: ['gatehouse-worker'],
};

/** The console creates no worker address, and loads only the logo from another origin. */
const ADMIN_CONSOLE = {
  ...PAGE,
  requireTrustedTypesFor: ["'script'"],
  trustedTypes: ["'none'"],
};

/** The worker shows the content of a push, and loads nothing. */
const SERVICE_WORKER = {
  ...NOTHING,
  requireTrustedTypesFor: ["'script'"],
  trustedTypes: ["'none'"],
};

/** Headers of helmet, computed once: helmet would compute them again for every response. */
export function securityHeaders() {
  return {
    // Most answers contain a token or an account's data; cacheable answers set their own value.
    answers: { ...headersWith(NOTHING), 'cache-control': 'no-store' },
    /** The page at /docs loads files of its own origin. */
    documentation: headersWith(DOCUMENTATION_PAGE),
  };
}

/** @param imageSource of the logo, as an origin or `'self'`; null = no own logo */
export function accountPageHeaders(imageSource: string | null = null): Record<string, string> {
  return headersWith(withImages(ACCOUNT_PAGE, imageSource));
}

/** @param imageSource as of {@link accountPageHeaders} */
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

/** A worker has a policy of its own. */
export function serviceWorkerHeaders(): Record<string, string> {
  return headersWith(SERVICE_WORKER);
}

/** @param styleHash SHA-256 of its only style element, in base64 */
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
    // Without the defaults, because the server may be reached over plain HTTP on a private network.
    contentSecurityPolicy: { useDefaults: false, directives },
    // Other subdomains of the operator's domain are not of this server.
    strictTransportSecurity: { includeSubDomains: false },
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
