import type * as v from 'valibot';
import { answerOf, success, type AnswerOf, type Route } from './api-client-answers.js';
import { Transport, type HttpMethod, type TransportOptions } from './api-client-transport.js';
import type { components } from './api-types.js';
import { pathSegment } from './path.js';
import { writeQuery } from './query.js';

/** The request of a route: `path`, `query` and `body`, if the route has them. */
export type RequestOf<One extends Route> = Part<'path', PathOf<One>> &
  Part<'body', PartOf<One, 'body'>> & { readonly query?: PartOf<One, 'query'> };

type PartOf<One extends Route, Name extends string> =
  components['schemas']['Routes'][One] extends Record<Name, infer Part extends Fields>
    ? Part
    : never;
type ParameterOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;
type PathOf<One extends Route> = [ParameterOf<One>] extends [never]
  ? never
  : { readonly [Name in ParameterOf<One>]: string };
type Part<Name extends string, Value> = [Value] extends [never]
  ? { readonly [Key in Name]?: undefined }
  : { readonly [Key in Name]: Value };

type Fields = Readonly<Record<string, unknown>>;

interface LooseRequest {
  readonly path?: Fields | undefined;
  readonly query?: Fields | undefined;
  readonly body?: object | undefined;
}

/** Routes that create a session, to which the client's name is added. */
const LOGINS: readonly Route[] = [
  'POST /v1/auth',
  'POST /v1/auth/mtls',
  'POST /v1/auth/mtls/claim',
  'POST /v1/auth/external/{provider}/finalize',
  'POST /v1/auth/external/{provider}/finalize-keyless',
  'POST /v2/auth/devices/{id}/token',
];

/** Calls routes by name; the compiler checks their requests. */
export class Routes {
  private readonly transport: Transport;
  private readonly client: TransportOptions['client'];

  constructor(options: TransportOptions) {
    this.transport = new Transport(options);
    this.client = options.client;
  }

  /**
   * Rejects with GatehouseProblem when the server refuses or its answer is not one of this route,
   * and with ServerUnreachable when it does not answer.
   */
  send<One extends Route>(route: One, request: RequestOf<One>): Promise<AnswerOf<One>> {
    return this.sendFor(route, request, answerOf(route));
  }

  async run<One extends Route>(route: One, request: RequestOf<One>): Promise<void> {
    await this.sendFor(route, request, success);
  }

  /** {@link send} for an answer of another form, such as an older server's. */
  async sendFor<Schema extends v.GenericSchema>(
    route: Route,
    { path, query, body }: LooseRequest,
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> {
    const [method, template] = route.split(' ') as [HttpMethod, string];
    const url = `${fillPath(template, path ?? {})}${writeQuery(query ?? {})}`;
    const { client } = this;
    const named = client !== undefined && LOGINS.includes(route) ? { client, ...body } : body;
    const sent = named ?? (method === 'POST' ? {} : undefined);
    return this.transport.send(method, url, schema, sent && { body: sent });
  }
}

function fillPath(template: string, values: Fields): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    pathSegment(values[name], `"${name}"`),
  );
}
