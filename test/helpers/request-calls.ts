import { randomBytes } from 'node:crypto';
import { call, type Answer, type Json, type Target } from './client.js';

export const newRequestId = (): string => randomBytes(16).toString('base64url');

/** Sealed text as a client sends it. The server cannot open it, so that any bytes do. */
export const sealedText = (bytes = 200): string => `1.${randomBytes(bytes).toString('base64url')}`;

/** Calls of /v1/requests as one session. */
export class RequestCalls {
  constructor(
    readonly server: Target,
    readonly token: string,
  ) {}

  ask(body: Json): Promise<Answer> {
    return call(this.server, 'POST', '/v1/requests', { token: this.token, body });
  }

  /** Asks with sealed text. @returns the id */
  async asked(more: Json = {}): Promise<string> {
    const id = newRequestId();
    const { status, text } = await this.ask({ id, sealed: sealedText(), ...more });
    if (status !== 201) {
      throw new Error(`The request was answered ${status}: ${text}`);
    }
    return id;
  }

  list(): Promise<Answer> {
    return this.get('');
  }

  read(id: string): Promise<Answer> {
    return this.get(`/${id}`);
  }

  wait(id: string, seconds = 50): Promise<Answer> {
    return this.get(`/${id}?waitSeconds=${seconds}`);
  }

  answer(id: string, body: Json): Promise<Answer> {
    return call(this.server, 'POST', `/v1/requests/${id}/answer`, { token: this.token, body });
  }

  reject(id: string, sessionId: string): Promise<Answer> {
    const path = `/v1/requests/${id}/answers/${sessionId}`;
    return call(this.server, 'DELETE', path, { token: this.token });
  }

  close(id: string, answeredBy?: string): Promise<Answer> {
    const query = answeredBy === undefined ? '' : `?answeredBy=${answeredBy}`;
    return call(this.server, 'DELETE', `/v1/requests/${id}${query}`, { token: this.token });
  }

  private get(path: string): Promise<Answer> {
    return call(this.server, 'GET', `/v1/requests${path}`, { token: this.token });
  }
}
