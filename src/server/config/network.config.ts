import {
  namespaceOf,
  variablesOf,
  type Checked,
  type UrlVariable,
} from './environment/variable.js';

const network = variablesOf('Network');

const PROXY = {
  type: 'url',
  schemes: ['http', 'https'],
  default: null,
  orLowerCase: true,
} as const satisfies Partial<UrlVariable>;

export const NETWORK_VARIABLES = {
  SERVICE_CA_BUNDLE: network.path(
    'PEM file with additional certificate authorities, for identity providers, PostgreSQL, Redis and revocation lists. Those of Node.js stay trusted.',
  ),
  HTTPS_PROXY: network(
    PROXY,
    'Proxy for https requests to identity providers, such as `http://proxy.example:3128`. It must allow CONNECT. Empty = HTTP_PROXY, or none. The lower-case name counts first.',
  ),
  HTTP_PROXY: network(
    PROXY,
    'Proxy for requests to http addresses, such as those of revocation lists and OCSP responders.',
  ),
  NO_PROXY: network(
    { type: 'csv', default: [], orLowerCase: true },
    'Hosts that are reached without the proxy: `idp.corp.example`, `.corp.example` with subdomains, `host:port`, or `*` for all.',
  ),
};

export const networkConfig = namespaceOf(
  'network',
  ({ values, caBundle }: Checked<typeof NETWORK_VARIABLES>) => ({
    /** PEM of the additional authorities; null = those of Node.js only. */
    caBundle,
    httpProxy: values.HTTP_PROXY,
    httpsProxy: values.HTTPS_PROXY ?? values.HTTP_PROXY,
    noProxy: values.NO_PROXY,
  }),
);

export type NetworkSettings = ReturnType<typeof networkConfig>;
