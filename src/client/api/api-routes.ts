import {
  isAnswerOf,
  isSuccess,
  type DeviceToken,
  type SettingsWrite,
} from './api-client-answers.js';
import { Transport, type HttpMethod, type TransportOptions } from './api-client-transport.js';
import type { paths } from './api-types.js';
import { writeQuery } from './query.js';

/** Every route of the server as `METHOD /path/{parameter}`, from its OpenAPI document. */
export type Route = {
  [Path in keyof paths]: {
    [Method in HttpMethod]: Operation<Path, Method> extends never ? never : `${Method} ${Path}`;
  }[HttpMethod];
}[keyof paths];

/** What a route takes: `path`, `query` and `body`, each where the route has it. */
export type RequestOf<One extends Route> = Part<'path', PathOf<One>> &
  Part<'body', BodyOf<OperationOf<One>>> & { readonly query?: QueryOf<OperationOf<One>> };

/** The answer of a route with status 200. */
export type AnswerOf<One extends Route> = One extends keyof ExactAnswers
  ? ExactAnswers[One]
  : OperationOf<One> extends {
        responses: { 200: { content: { 'application/json': infer Answer } } };
      }
    ? Answer
    : unknown;

/** Answers that are unions, which the OpenAPI document describes as one object. */
interface ExactAnswers {
  'POST /v2/account/settings': SettingsWrite;
  'POST /v1/account/encryption/migrate': SettingsWrite | { readonly success: true };
  'POST /v2/auth/devices/{id}/token': DeviceToken;
}

type Operation<Path extends keyof paths, Method extends HttpMethod> = Exclude<
  paths[Path][Lowercase<Method>],
  undefined
>;
type OperationOf<One extends Route> = One extends `${infer Method} ${infer Path}`
  ? Path extends keyof paths
    ? Method extends HttpMethod
      ? Operation<Path, Method>
      : never
    : never
  : never;
type ParameterOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterOf<Rest>
  : never;
type PathOf<One extends Route> = [ParameterOf<One>] extends [never]
  ? never
  : { readonly [Name in ParameterOf<One>]: string };
type QueryOf<Operation> = Operation extends { parameters: { query?: infer Query } } ? Query : never;
type BodyOf<Operation> = Operation extends { requestBody?: infer Given }
  ? JsonOf<NonNullable<Given>>
  : never;
type JsonOf<Given> = Given extends { content: { 'application/json': infer Body } } ? Body : never;
type Part<Name extends string, Value> = [Value] extends [never]
  ? { readonly [Key in Name]?: undefined }
  : { readonly [Key in Name]: Value };

interface LooseRequest {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: object | undefined;
}

/** The routes that begin a session: it gets the name of the client. */
const LOGINS: readonly Route[] = [
  'POST /v1/auth',
  'POST /v1/auth/mtls',
  'POST /v1/auth/mtls/claim',
  'POST /v1/auth/external/{provider}/finalize',
  'POST /v1/auth/external/{provider}/finalize-keyless',
];

/** Calls routes by name; the compiler checks their requests. */
export class Routes {
  private readonly transport: Transport;

  constructor(private readonly options: TransportOptions) {
    this.transport = new Transport(options);
  }

  /**
   * Rejects with GatehouseProblem when the server refuses or its answer is not one of this route,
   * and with ServerUnreachable when it does not answer.
   */
  send<One extends Route>(route: One, request: RequestOf<One>): Promise<AnswerOf<One>> {
    return this.exchange(route, request, isAnswerOf(route));
  }

  /** {@link send} for routes that answer `success` alone. */
  async run<One extends Route>(route: One, request: RequestOf<One>): Promise<void> {
    await this.exchange(route, request, isSuccess);
  }

  private exchange<Answer>(
    route: Route,
    { path, query, body }: LooseRequest,
    isAnswer: (value: unknown) => value is Answer,
  ): Promise<Answer> {
    const [method, template] = route.split(' ') as [HttpMethod, string];
    const url = `${fillPath(template, path ?? {})}${writeQuery(query ?? {})}`;
    const { client } = this.options;
    const named = client !== undefined && LOGINS.includes(route) ? { client, ...body } : body;
    const sent = named ?? (method === 'POST' ? {} : undefined);
    return this.transport.send(method, url, { isAnswer, ...(sent && { body: sent }) });
  }
}

function fillPath(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = String(values[name]);
    // Encoding keeps these, and URL resolution would then select another route.
    if (/^\.{0,2}$/.test(value)) {
      throw new TypeError(`"${name}" cannot be "${value}"`);
    }
    return encodeURIComponent(value);
  });
}
