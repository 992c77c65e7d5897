import * as v from 'valibot';
import { PROVIDER_ID_PATTERN } from '../environment/variable.js';
import { PROGRAMS_ENTRY } from './programs-entry.js';
import {
  choice,
  flag,
  insecureFailure,
  object,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalText,
  optionalTexts,
  pattern,
  text,
} from '../providers-file/entry-schema.js';

const RESOURCE =
  'must be an https address (http only on a loopback host) without user name, query, fragment or slash at its end.';

/** Claims about the person that a backend may ask for. */
const CLAIMS = ['login', 'email'] as const;

/** Access tokens name the backend by this text, which is compared character by character (RFC 8707). */
const resource = v.pipe(
  v.string(RESOURCE),
  v.url(RESOURCE),
  v.check(isResource, RESOURCE),
  v.description(
    'Address of the backend: what clients send as `resource`, and the audience of its tokens. Compared exactly.',
  ),
);

const SECURE =
  'must be an https address (http only on a loopback host) without user name or fragment.';

/** https, because a forged key set would authenticate anyone. */
const keysAddress = (doc: string) =>
  v.pipe(v.string(SECURE), v.url(SECURE), v.check(isSecure, SECURE), v.description(doc));

/** Fields of `client`, of which exactly one is given. */
export const CLIENT_METHODS = ['secretFile', 'jwksFile', 'jwksUri', 'kubernetes'] as const;
/** Fields with a key set, of which exactly one is given. */
export const KEY_SOURCES = ['jwksFile', 'jwksUri'] as const;

const CLIENT = v.pipe(
  object({
    secretFile: optionalText(
      'File with the client secret, for `client_secret_basic` (RFC 6749, 2.3.1). A second line holds a second secret, so that both are valid during a rotation. A change applies without a restart.',
    ),
    jwksFile: optionalText(
      'File with the public keys of the backend as a JWK set (RFC 7517), for `private_key_jwt` (RFC 7523). A change applies without a restart.',
    ),
    jwksUri: v.optional(
      keysAddress('Address of the same JWK set, which the server reads again after five minutes.'),
    ),
    kubernetes: optionalObject(
      'A projected service account token is the assertion of the backend. Its audience is SERVICE_PUBLIC_URL, and it lives for an hour at most.',
      {
        issuer: text(
          'Issuer of the cluster: `iss` in the tokens of its service accounts, compared exactly.',
        ),
        subject: pattern(
          'system:serviceaccount:<namespace>:<name>',
          /^system:serviceaccount:[a-z0-9-]{1,63}:[a-z0-9.-]{1,253}$/,
          'Service account of the backend, as `system:serviceaccount:<namespace>:<name>`.',
        ),
        jwksFile: optionalText(
          "File with the cluster's public keys as a JWK set. A change applies without a restart.",
        ),
        jwksUri: v.optional(
          keysAddress(
            "Address of the cluster's JWK set, such as `https://kubernetes.default.svc/openid/v1/jwks`.",
          ),
        ),
        caFile: optionalText(
          'PEM file with the authorities that jwksUri is trusted by, in addition to those of the server.',
        ),
        bearerFile: optionalText(
          'File with the bearer token that jwksUri needs. A change applies without a restart.',
        ),
      },
    ),
  }),
  v.description(
    'Authentication of the backend where it asks about tokens. One of secretFile, jwksFile, jwksUri and kubernetes is needed.',
  ),
);

/** The reader and the JSON schema of the resource servers are derived from this. */
export const RESOURCE_SERVER_ENTRY = object({
  id: pattern(
    'lower-case letters, digits, - and _ (up to 64, not starting with - or _)',
    PROVIDER_ID_PATTERN,
    'Client id of the backend, which is also part of the address for proxies.',
  ),
  name: optionalText('Name that people see. Default: the id.'),
  resource,
  client: CLIENT,
  requireProviders: optionalTexts(
    'Ids of providers that an account needs at this backend, in addition to AUTH_REQUIRED_LOGIN_PROVIDERS.',
  ),
  allowKeyless: flag('False refuses accounts without a device key.', true),
  claims: v.optional(
    v.pipe(
      v.array(choice(CLAIMS, 'A claim.')),
      v.description('Claims about the person in each token: `login`, `email`. Default: none.'),
    ),
    [],
  ),
  maxTokenSeconds: optionalNumber(
    { min: 60, max: 900 },
    'Lifetime of a token in seconds. It never exceeds that of the session.',
    300,
  ),
  tokenAlg: optionalChoice(['ES256', 'RS256'], 'Signature algorithm of the tokens.', 'ES256'),
  programs: PROGRAMS_ENTRY,
});

export type ResourceServerEntry = v.InferOutput<typeof RESOURCE_SERVER_ENTRY>;

function isSecure(value: string): boolean {
  const url = new URL(value);
  return (
    insecureFailure(url) === null &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.hash].every((part) => part === '')
  );
}

function isResource(value: string): boolean {
  const url = new URL(value);
  return (
    insecureFailure(url) === null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]/.test(value) &&
    !value.endsWith('/') &&
    url.href.replace(/\/$/, '') === value
  );
}
