import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeServer, KEPT_OPEN, listen } from '../helpers/local-server.js';

export interface DiscordEmbed {
  readonly title: string;
  readonly description: string;
}

const PLACE = /^\/api\/webhooks\/\d+\/[\w-]+(?:\/messages\/(?<message>\d+))?$/;

/** A POST returns its message only with `wait=true`, and a PATCH changes it, as documented. */
export class DiscordWebhooks {
  readonly messages = new Map<string, DiscordEmbed>();
  private readonly server = createServer({ ...KEPT_OPEN }, (request, response) => {
    void text(request).then((body) => {
      const { status, answer } = this.answer(request.method ?? '', request.url ?? '', body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(answer === null ? undefined : JSON.stringify(answer));
    });
  });

  static async start(): Promise<DiscordWebhooks> {
    const discord = new DiscordWebhooks();
    await listen(discord.server);
    return discord;
  }

  get url(): string {
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/api/webhooks/41771983423143937/a-token`;
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private answer(method: string, url: string, body: string) {
    const { pathname, searchParams } = new URL(url, 'http://discord');
    const place = PLACE.exec(pathname);
    const id = place?.groups?.['message'];
    const [embed] = (JSON.parse(body) as { readonly embeds: readonly DiscordEmbed[] }).embeds;
    if (place === null || (id !== undefined && !this.messages.has(id))) {
      return { status: 404, answer: { code: 10008, message: 'Unknown Message' } };
    }
    if (embed === undefined || method !== (id === undefined ? 'POST' : 'PATCH')) {
      return { status: 405, answer: { code: 0, message: '405: Method Not Allowed' } };
    }
    const known = id ?? String(1_100_000_000_000_000_000n + BigInt(this.messages.size));
    this.messages.set(known, embed);
    const isWanted = id !== undefined || searchParams.get('wait') === 'true';
    return isWanted
      ? { status: 200, answer: { id: known, type: 0, embeds: [embed] } }
      : { status: 204, answer: null };
  }
}
