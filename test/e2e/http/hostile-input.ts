import { METHODS } from 'node:http';
import type { Operation } from './documented-operations.js';

export interface Attack {
  readonly what: string;
  /** Set for attacks that each caller sends: bodies are read after authentication. */
  readonly forEach?: 'caller';
  readonly method: string;
  /** The path and query, which are sent without encoding. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

const DEEP = 10_000;
/** A size slightly below the limit of a body. */
const LARGE = 1_000_000;

/** JSON texts, including some that `JSON.stringify` would not write. */
const HOSTILE_VALUES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['null', 'true', '0', '-1', '1.5', '1e400', '2147483648', '9007199254740993'].map((text) => [
      text,
      text,
    ]),
  ),
  'an empty text': '""',
  'a space': '" "',
  'a NUL': String.raw`"\u0000"`,
  'a NUL within': String.raw`"a\u0000b"`,
  'a high surrogate alone': String.raw`"\ud800"`,
  'a low surrogate alone': String.raw`"a\udc00"`,
  'a line break': String.raw`"a\r\nb"`,
  'an emoji': '"👍"',
  'an object in place of a text': '{}',
  'an array': '[]',
  'an array of null': '[null]',
  'an array of a text': '["x"]',
  'a field called __proto__': '{"__proto__":{"x":1}}',
  'fields that methods have': '{"toString":1,"valueOf":null,"length":1e9,"then":1,"toJSON":"x"}',
  'a plain value with NUL': String.raw`{"t":"plain","v":{"\u0000":"\u0000"}}`,
  'a plain value with half a surrogate': String.raw`{"t":"plain","v":{"\ud800":["\udfff"]}}`,
  'a plain value that is deep': `{"t":"plain","v":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`,
  'an encrypted value that is no text': '{"t":"encrypted","c":{"length":1}}',
  'deep arrays': `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
  'deep objects': `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
  'a large text': `"${'x'.repeat(LARGE)}"`,
};

const JSON_TYPE = { 'content-type': 'application/json' };

const STRANGE_BODIES: readonly Pick<Attack, 'what' | 'headers' | 'body'>[] = [
  { what: 'no body' },
  { what: 'no body, but a type', headers: JSON_TYPE },
  { what: 'no body, but a length', headers: { ...JSON_TYPE, 'content-length': '0' } },
  { what: 'an empty form', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
  { what: 'a body without a type', headers: { 'content-type': undefined }, body: '{}' },
  ...[
    ...['', ';', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    ...['application/xml', 'application/octet-stream', 'application/json; charset=utf-16'],
    ...['application/json;', 'application/problem+json', 'nonsense', '*/*'],
  ].map((type) => ({ what: `the type ${type}`, headers: { 'content-type': type }, body: '{}' })),
  ...['null', '[]', '[{}]', '0', '"x"', 'true', '{', '}', 'NaN', '\u0000', '\ufeff{}'].map(
    (body) => ({ what: `the body ${body}`, headers: JSON_TYPE, body }),
  ),
  { what: 'bytes', headers: JSON_TYPE, body: Buffer.from('7b2261223a22eda080ff00227d', 'hex') },
  { what: 'deep JSON', headers: JSON_TYPE, body: HOSTILE_VALUES['deep objects'] ?? '' },
  { what: 'a large text', headers: JSON_TYPE, body: HOSTILE_VALUES['a large text'] ?? '' },
  {
    what: 'another encoding',
    headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
    body: Buffer.from('1f8b0800', 'hex'),
  },
];

/** Segments that are sent with this percent encoding. */
const STRANGE_SEGMENTS: readonly string[] = [
  ...['%00', 'a%00b', '%', '%zz', '%2', '%ff', '%c0%af', '%ed%a0%80', '%f0%9f%91%8d', '%2f'],
  ...['%2e%2e', '..', '.', '%252f', '%0d%0a', '%20', '%5c', ';', ';a=b', ':', '*', '@', '%7f'],
  ...['null', 'undefined', 'constructor', '__proto__', 'toString', 'github', 'people', 'mtls'],
  ...['0', '-1', '00000000-0000-0000-0000-000000000000', "'%20OR%201=1--", '"', '$%7Ba%7D'],
  'x'.repeat(8000),
  'x'.repeat(9000),
];

const STRANGE_VALUES: readonly string[] = [
  ...['', '%00', '%', '%zz', '%ff', '%ed%a0%80', '%f0%9f%91%8d', '%0d%0aset-cookie:a=b', '..'],
  ...['-1', '1e9', '__proto__', 'keyed', 'keyless', 'javascript:alert(1)', 'https://app.example/'],
  'a'.repeat(64),
  'x'.repeat(4000),
];

/** Names that some route reads without documentation. */
const MORE_QUERY = ['state', 'code', 'error', 'iss', 'session_state', '__proto__', 'constructor'];

/** A request line at the limit of Node (16 KiB with the headers), and one beyond. */
const HUGE_QUERIES = ['x'.repeat(12_000), 'a=1&'.repeat(3000), 'x'.repeat(20_000)];

const fill = (path: string, segment: string): string => path.replaceAll(/\{\w+\}/g, segment);

export function attacksOn(operation: Operation): Attack[] {
  return [...bodyAttacks(operation), ...addressAttacks(operation), ...headerAttacks(operation)];
}

function bodyAttacks({ method, path, bodies }: Operation): Attack[] {
  const target = { method, path: fill(path, 'people'), forEach: 'caller' } as const;
  const strange = STRANGE_BODIES.map((one) => ({ ...target, ...one }));
  const wrong = bodies.flatMap((body) =>
    placesIn(body).flatMap((place) =>
      Object.entries(HOSTILE_VALUES).map(([what, raw]) => ({
        ...target,
        what: `${what} at ${place.join('.')}`,
        headers: JSON_TYPE,
        body: Buffer.from(replaced(body, place, raw)),
      })),
    ),
  );
  return [...strange, ...wrong];
}

function addressAttacks({ method, path, query }: Operation): Attack[] {
  const segments = path.includes('{') ? STRANGE_SEGMENTS : [];
  const names = [...query, ...MORE_QUERY];
  const queries = [
    ...names.flatMap((name) => STRANGE_VALUES.map((value) => `${name}=${value}`)),
    ...names.flatMap((name) => [`${name}=a&${name}=b`, `${name}[]=a`, `${name}[a]=b`, name]),
    ...HUGE_QUERIES,
    ...['?', '&', '=', '#', '%', '&&==&'],
  ];
  return [
    ...segments.map((segment) => fill(path, segment)),
    ...queries.map((text) => `${fill(path, 'people')}?${text}`),
  ].map((address) => ({ what: 'an address', method, path: address }));
}

const HEADER_NAMES = [
  ...['x-service-client-cert-email', 'x-hub-signature-256', 'x-github-event', 'x-forwarded-for'],
  ...['if-none-match', 'origin', 'access-control-request-method', 'accept', 'range', 'cookie'],
];
const HEADER_VALUES = [
  '',
  ',',
  'x'.repeat(5000),
  '\u00ff',
  '%00',
  'a@b',
  '"',
  '*',
  '[object Object]',
];

function headerAttacks({ method, path }: Operation): Attack[] {
  return HEADER_NAMES.flatMap((name) =>
    HEADER_VALUES.map((value) => ({
      what: 'a header',
      method,
      path: fill(path, 'people'),
      headers: { [name]: value },
    })),
  );
}

/** The methods that HTTP parsers know, except the one that requests a tunnel. */
export const ALL_METHODS: readonly string[] = METHODS.filter((method) => method !== 'CONNECT');

/** Returns the paths inside a body, without the body itself: `['content', 't']`. */
function placesIn(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const place = [...at, key];
    return [place, ...placesIn(inner, place)];
  });
}

const MARK = '\u0001here\u0001';

/** Returns the body as JSON, with this text in place of the value at `place`. */
function replaced(body: unknown, place: readonly string[], raw: string): string {
  const copy = structuredClone(body);
  const last = place.at(-1) ?? '';
  let at = copy as Record<string, unknown>;
  for (const key of place.slice(0, -1)) {
    at = at[key] as Record<string, unknown>;
  }
  at[last] = MARK;
  return JSON.stringify(copy).replace(JSON.stringify(MARK), () => raw);
}
