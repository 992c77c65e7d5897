import type { IncomingMessage } from 'node:http';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { AppError, invalidRequest } from '../../common/errors.js';
import { isNestedTooDeep, MAX_JSON_DEPTH } from '../../common/parse-json.js';
import { ArrivingBodies } from './arriving-bodies.js';

export interface FormattedRefusal {
  readonly status: number;
  /** Added to those of every refusal, or in place of them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A GET of this route changes state. */
    readonly changesState?: true;
    /** The only accepted media type, whose body stays unparsed text; '' without a body. */
    readonly textBody?: string;
    /** Accepts a form alone. Repeated fields become an array. */
    readonly formBody?: true;
    /** Reads neither type nor body, as for a proxy's question about another request. */
    readonly ignoresBody?: true;
    /** Largest body in bytes, where it is not {@link BODY_LIMIT_BYTES}. */
    readonly bodyLimitBytes?: number;
    /**
     * Takes a body of `bodyLimitBytes`, or else of SERVICE_BODY_LIMIT_BYTES, which is read once the
     * caller is authenticated.
     */
    readonly largeBody?: true;
    /** Accepts SCIM bodies too (RFC 7644, 8.2), parsed as JSON. */
    readonly scimBody?: true;
    /** Writes refusals of the route, where a standard defines their form. */
    readonly refusalFormat?: (refusal: AppError, requestId: string) => FormattedRefusal;
  }
}

/** Anyone may send a body of this size; parsing more costs others their time. */
export const BODY_LIMIT_BYTES = 32_768;
/** 2,048 of them have this length, and so do 256 of the largest bodies that strangers may send. */
const ARRIVING_BYTES = 64 * 1024 * 1024;

/** Grouping the fields by name costs the square of their number. */
const MAX_FORM_FIELDS = 100;

export const FORM = 'application/x-www-form-urlencoded';
export const JSON_TYPE = 'application/json';
export const SCIM_TYPE = 'application/scim+json';
/** A security event token (RFC 8935, 2). */
export const SET_TYPE = 'application/secevent+jwt';

/** The address of a SCIM resource, with a slash at its end. */
const SCIM_SLASH = /^(\/v1\/scim\/[^/?]+\/v2\/[^?]*[^/?])\/(?=\?|$)/;

/** Some directories end the addresses of resources with a slash, which names the same ones. */
export function routedUrl({ url = '/' }: IncomingMessage): string {
  return url.startsWith('/v1/scim/') ? url.replace(SCIM_SLASH, '$1') : url;
}

/** Refuses HEAD, which link previews send to addresses for the browser alone (RFC 9110, 9.2.1). */
export const ChangesState = (): MethodDecorator => RouteConfig({ changesState: true });

/** @param bodyLimitBytes the limit; default: SERVICE_BODY_LIMIT_BYTES */
export const LargeBody = (bodyLimitBytes?: number): MethodDecorator =>
  RouteConfig({ largeBody: true, ...(bodyLimitBytes !== undefined && { bodyLimitBytes }) });

/** Call it before the routes are added. */
export function applyRequestRules(server: FastifyInstance): void {
  requireOneHost(server);
  refuseHeadWhereGetChanges(server);
  acceptJsonOnly(server);
  applyBodyRules(server);
}

/** Proxies and servers could disagree on which of two hosts counts (RFC 9112, 3.2). */
function requireOneHost(server: FastifyInstance): void {
  server.addHook('onRequest', ({ raw }, _reply, done) => {
    done(hasOneHost(raw) ? undefined : invalidRequest('host', ONE_HOST));
  });
}

export const ONE_HOST = 'Send one Host header.';

/** Node keeps the first of several. HTTP/1.0 needs none. */
export function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const isHost = (text: string, at: number): boolean =>
    at % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host';
  const first = rawHeaders.findIndex(isHost);
  return first === -1 ? httpVersion === '1.0' : first === rawHeaders.findLastIndex(isHost);
}

/** Fastify serves HEAD wherever it serves GET. */
function refuseHeadWhereGetChanges(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    if (route.method === 'HEAD' && route.config?.changesState === true) {
      route.onRequest = (_request, _reply, done): void => done(new AppError('not-found'));
    }
  });
}

/** Routes with a `textBody` are excepted. */
function acceptJsonOnly(server: FastifyInstance): void {
  const parseBody = jsonParserOf(server);
  server.removeAllContentTypeParsers();
  for (const type of [FORM, JSON_TYPE, SET_TYPE, SCIM_TYPE]) {
    server.addContentTypeParser(type, { parseAs: 'string' }, (request, body, done) => {
      const { config } = request.routeOptions;
      const accepted = acceptedTypeOf(config);
      if (type !== accepted && !(type === JSON_TYPE && accepted === SCIM_TYPE)) {
        done(otherType(request));
      } else if (config.textBody !== undefined) {
        done(null, body);
      } else if (type === FORM) {
        parseForm(body as string, done);
      } else {
        parseBody(request, body as string, done);
      }
    });
  }
}

type BodyParsed = (error: Error | null, parsed?: unknown) => void;

function parseForm(body: string, done: BodyParsed): void {
  const form = new URLSearchParams(body);
  if (form.size > MAX_FORM_FIELDS) {
    done(invalidRequest('', `The form must not have more than ${MAX_FORM_FIELDS} fields.`));
  } else {
    done(null, fieldsOf(form));
  }
}

/** A path without a route refuses every body as missing, not as one of the wrong type. */
function otherType({ is404 }: FastifyRequest): AppError {
  return new AppError(is404 ? 'not-found' : 'unsupported-media-type');
}

/** The parser's own message quotes the body. It refuses names that change the prototype of an object. */
const INVALID_JSON = 'Send valid JSON, without fields named __proto__ or constructor.prototype.';

function jsonParserOf(server: FastifyInstance) {
  const parse = server.getDefaultJsonParser('error', 'error');
  return (request: FastifyRequest, body: string, done: BodyParsed): void => {
    if (body === '') {
      // Clients send the content type even without a body.
      done(null, {});
    } else if (isNestedTooDeep(body)) {
      done(invalidRequest('', `The JSON must not nest deeper than ${MAX_JSON_DEPTH} levels.`));
    } else {
      void parse(request, body, (error, parsed) =>
        done(error && invalidRequest('', INVALID_JSON), parsed),
      );
    }
  };
}

function applyBodyRules(server: FastifyInstance): void {
  const bodies = new ArrivingBodies(ARRIVING_BYTES);
  // Large bodies of callers who are authenticated have a bound of their own.
  server.addHook('preParsing', (request, reply, payload, done) => {
    // The framework reads no body of a GET, and makes these options again for each request.
    const options = request.method === 'GET' ? null : request.routeOptions;
    if (options !== null && options.config.largeBody !== true) {
      bodies.add(request, reply, options.bodyLimit);
    }
    done(null, payload);
  });
  server.addHook('onRoute', (route) => {
    route.bodyLimit = route.config?.bodyLimitBytes ?? route.bodyLimit;
    if (route.config?.ignoresBody === true) {
      route.onRequest = ({ headers }, _reply, done): void => {
        delete headers['content-type'];
        delete headers['content-length'];
        delete headers['transfer-encoding'];
        done();
      };
    }
    if (route.config?.textBody !== undefined) {
      // Fastify runs no parser for a request without body and type.
      route.preValidation = (request, _reply, done): void => {
        request.body ??= '';
        done();
      };
    }
  });
}

/** A parameter without a value counts as absent (RFC 6749, 3.2), unless it is repeated. */
function fieldsOf(form: URLSearchParams): Readonly<Record<string, string | string[]>> {
  const fields = [...new Set(form.keys())].map((name) => {
    const [value = '', ...more] = form.getAll(name);
    return [name, more.length === 0 ? value : [value, ...more]] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}

/** The type of bodies that a route accepts. */
export function acceptedTypeOf({ textBody, formBody, scimBody }: FastifyContextConfig): string {
  if (textBody !== undefined) {
    return textBody;
  }
  if (formBody === true) {
    return FORM;
  }
  return scimBody === true ? SCIM_TYPE : JSON_TYPE;
}
