import type { ConfigType } from '@nestjs/config';
import {
  namespaceOf,
  type UrlVariable,
  type Variable,
  variablesOf,
} from './environment/variable.js';

const network = variablesOf('Network');

const PROXY = {
  type: 'url',
  schemes: ['http', 'https'],
  default: null,
  orLowerCase: true,
} as const satisfies Partial<UrlVariable>;

/** How requests leave the network of this server. */
export const NETWORK_VARIABLES = {
  SERVICE_CA_BUNDLE: network(
    { type: 'path', default: null },
    'File with certificate authorities (PEM) that are trusted beside those of Node.js: by connections to identity providers, PostgreSQL and Redis, and for revocation lists.',
  ),
  HTTPS_PROXY: network(
    PROXY,
    'Proxy for requests to https addresses of identity providers, `http://proxy.example:3128`; it has to allow CONNECT. Empty = HTTP_PROXY, or none. The name in lower case counts first.',
  ),
  HTTP_PROXY: network(
    PROXY,
    'Proxy for requests to http addresses, which revocation lists and OCSP responders often have.',
  ),
  NO_PROXY: network(
    { type: 'csv', default: [], orLowerCase: true },
    'Hosts that are reached without the proxy, comma-separated: `idp.corp.example`, `.corp.example` with its subdomains, `host:port`, or `*` for all.',
  ),
} as const satisfies Record<string, Variable>;

export const networkConfig = namespaceOf('network', ({ values, caBundle }) => ({
  /** PEM of the additional authorities; null = those of Node.js only. */
  caBundle,
  /** Addresses of the proxies; null = none. */
  httpProxy: values.HTTP_PROXY,
  httpsProxy: values.HTTPS_PROXY ?? values.HTTP_PROXY,
  noProxy: values.NO_PROXY,
}));

export type NetworkSettings = ConfigType<typeof networkConfig>;
