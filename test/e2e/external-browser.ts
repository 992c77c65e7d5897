/** A person's browser: keeps cookies, follows redirects, fills in forms and presses their button. */
export class Browser {
  private readonly cookies = new Map<string, Map<string, string>>();

  /** @param fields what the person types into form fields of these names */
  constructor(private readonly fields: Readonly<Record<string, string>>) {}

  /** Opens an address and goes on until it is sent to one that begins with `end`. */
  async visit(start: string | URL, end: string): Promise<URL> {
    let next: Step = { url: new URL(start) };
    for (let step = 0; step < 20; step += 1) {
      const response = await this.open(next);
      const location = response.headers.get('location');
      if (location !== null) {
        if (location.startsWith(end)) {
          return new URL(location);
        }
        next = { url: new URL(location, next.url) };
      } else {
        next = this.submit(next.url, response.status, await response.text());
      }
    }
    throw new Error(`${String(start)} never came to ${end}`);
  }

  private async open({ url, body }: Step): Promise<Response> {
    const jar = this.cookies.get(url.origin) ?? new Map<string, string>();
    this.cookies.set(url.origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') {
        jar.delete(name);
      } else {
        jar.set(name, value);
      }
    }
    return response;
  }

  private submit(page: URL, status: number, html: string): Step {
    const form = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(html);
    if (form === null) {
      throw new Error(`${page.href} answered ${status} without a form: ${html.slice(0, 300)}`);
    }
    const [, attributes = '', inside = ''] = form;
    const body = new URLSearchParams();
    for (const [input] of inside.matchAll(/<input\b[^>]*>/gi)) {
      const name = attributeOf(input, 'name');
      if (name !== null) {
        body.set(name, this.fields[name] ?? attributeOf(input, 'value') ?? '');
      }
    }
    return { url: new URL(attributeOf(attributes, 'action') ?? page, page), body };
  }
}

interface Step {
  readonly url: URL;
  readonly body?: URLSearchParams;
}

function attributeOf(tag: string, name: string): string | null {
  const found = new RegExp(`\\b${name}=(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(tag);
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? '').replaceAll('&amp;', '&');
}
