import { startLocalServer, type LocalRequest, type LocalServer } from './local-server.js';

type Json = Record<string, unknown>;

interface Rule {
  /** Matches the method, a space, and the path. */
  readonly call: RegExp;
  /** Answers the call itself, without a body of the server. */
  readonly status?: number;
  readonly send?: (body: Json) => Json;
  readonly answer?: (answer: Json, request: LocalRequest) => Json | Promise<Json>;
}

/** A real server whose owner changes what passes: a relay in front of it with rules of a test. */
export class HostileRelay {
  readonly received: LocalRequest[] = [];
  private rules: readonly Rule[] = [];

  private constructor(
    private readonly target: string,
    private readonly server: LocalServer,
  ) {}

  static async start(target: { readonly url: string }): Promise<HostileRelay> {
    const server = await startLocalServer((request) => relay.forward(request));
    const relay = new HostileRelay(target.url, server);
    return relay;
  }

  get url(): string {
    return this.server.url;
  }

  /** Changes calls from now on, in place of the last changes. */
  change(...rules: readonly Rule[]): void {
    this.rules = rules;
    this.received.length = 0;
  }

  /** Returns the bodies of the calls since the last {@link change}. */
  sent(call: RegExp): string[] {
    return this.received.filter((one) => call.test(nameOf(one))).map(({ body }) => body);
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async forward(request: LocalRequest) {
    this.received.push(request);
    const { method, url, headers, body } = request;
    const rules = this.rules.filter(({ call }) => call.test(nameOf(request)));
    const { status: own } = rules.find(({ status }) => status !== undefined) ?? {};
    if (own !== undefined) {
      return { status: own, json: {} };
    }
    const sent = rules.reduce((json, { send }) => send?.(json) ?? json, parse(body));
    const { authorization, 'content-type': type } = headers;
    const response = await fetch(new URL(url.pathname + url.search, this.target), {
      method,
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(type !== undefined && { 'content-type': type }),
      },
      ...(body !== '' && { body: JSON.stringify(sent) }),
    });
    const answer = parse(await response.text());
    let json = answer;
    for (const rule of rules) {
      json = (await rule.answer?.(json, request)) ?? json;
    }
    const retryAfter = response.headers.get('retry-after') ?? '';
    const status = json === answer ? response.status : 200;
    return { status, json, ...(retryAfter !== '' && { headers: { 'retry-after': retryAfter } }) };
  }
}

function nameOf({ method, url }: LocalRequest): string {
  return `${method} ${url.pathname}`;
}

function parse(text: string): Json {
  return text === '' ? {} : (JSON.parse(text) as Json);
}
