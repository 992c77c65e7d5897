import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** Enough for the API's own documentation page, nothing for anybody else's. */
const CONTENT_SECURITY_POLICY = {
  defaultSrc: ["'none'"],
  baseUri: ["'none'"],
  connectSrc: ["'self'"],
  fontSrc: ["'self'"],
  formAction: ["'none'"],
  frameAncestors: ["'none'"],
  imgSrc: ["'self'", 'data:'],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  // The server may well be reached over plain HTTP on a private network.
  upgradeInsecureRequests: null,
};

/**
 * The headers helmet would set, asked for once: it composes them anew for every response, which
 * costs more than everything else a request does here.
 */
export function securityHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => undefined,
  };
  const collect = helmet({
    contentSecurityPolicy: { directives: CONTENT_SECURITY_POLICY },
    // Browsers read these no more, or only where documents are embedded.
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
