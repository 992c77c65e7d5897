import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CLIENT } from './openid-provider.js';

export interface OidcAccount {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** The real `oidc-provider` in a separate process, and a browser that logs people in there. */
export class OidcProviderProcess {
  private constructor(
    readonly issuer: string,
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
  ) {}

  /** @param jwksUri where the client's keys are, which replace its secret */
  static async start(redirectUri: string, jwksUri?: string): Promise<OidcProviderProcess> {
    const script = join(import.meta.dirname, 'oidc-provider-process.mjs');
    const args = [script, CLIENT.id, CLIENT.secret, redirectUri];
    const child = spawn(process.execPath, jwksUri === undefined ? args : [...args, jwksUri], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return new OidcProviderProcess(String(value), child, lines);
  }

  setAccount(account: OidcAccount): Promise<void> {
    return this.command({ account });
  }

  /** Removes a person: their refresh tokens become invalid. */
  removeAccount(sub: string): Promise<void> {
    return this.command({ revoke: sub });
  }

  /** Clears the cached keys of the client, which otherwise last for a minute at least. */
  forgetKeys(): Promise<void> {
    return this.command({ forgetKeys: true });
  }

  /** Follows the login and consent from the authorization address to the callback address. */
  async logIn(url: URL, sub: string): Promise<URL> {
    const browser = new CookieBrowser();
    let location = await browser.open(url);
    for (let step = 0; step < 10 && location.origin === this.issuer; step += 1) {
      location = location.pathname.startsWith('/interaction/')
        ? await this.answerForm(browser, location, sub)
        : await browser.open(location);
    }
    return location;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.kill();
    await exited;
  }

  private async answerForm(browser: CookieBrowser, page: URL, sub: string): Promise<URL> {
    const html = await browser.read(page);
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1] ?? '';
    const form = new URLSearchParams({ prompt, login: sub, password: 'any' });
    return browser.open(page, form);
  }

  private async command(command: object): Promise<void> {
    this.child.stdin?.write(`${JSON.stringify(command)}\n`);
    await this.lines.next();
  }
}

/** A browser that follows no redirects, and keeps cookies. */
class CookieBrowser {
  private readonly cookies = new Map<string, string>();

  async open(url: URL, form?: URLSearchParams): Promise<URL> {
    const response = await this.request(url, form);
    const location = response.headers.get('location');
    if (location === null) {
      throw new Error(`${url.pathname} answered ${response.status} without a Location`);
    }
    return new URL(location, url);
  }

  async read(url: URL): Promise<string> {
    return (await this.request(url)).text();
  }

  private async request(url: URL, form?: URLSearchParams): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(form !== undefined && { method: 'POST', body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.cookies.set(name, value);
    }
    return response;
  }
}
