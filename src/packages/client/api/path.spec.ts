import { GatehouseAdmin } from './admin-client.js';
import { pathOf, pathSegment } from './path.js';

describe(pathOf, () => {
  it('encodes each value as one segment', () => {
    expect(pathOf`/accounts/${'a/b?c#d'}/sessions/${'ä'}`).toBe(
      '/accounts/a%2Fb%3Fc%23d/sessions/%C3%A4',
    );
  });

  it.each(['', '.', '..'])('refuses %j, which would select another route', (value) => {
    expect(() => pathOf`/accounts/${value}`).toThrow(TypeError);
    expect(() => pathSegment(value, '"id"')).toThrow(`"id" cannot be "${value}"`);
  });
});

describe(pathSegment, () => {
  it.each([undefined, null, 5, {}, '\ud800', 'a\udc00b'])(
    'refuses %p, which is no text',
    (value) => {
      expect(() => pathSegment(value, '"id"')).toThrow(/^"id" (must be a string|cannot be)/);
    },
  );
});

describe(GatehouseAdmin, () => {
  it('sends no act on an account in place of the end of a session or program', () => {
    const sent: string[] = [];
    const admin = new GatehouseAdmin({
      serverUrl: 'https://gate.example',
      fetch: (...args) => {
        sent.push(new Request(...args).url);
        return Promise.resolve(Response.json({}));
      },
    });
    expect(() => admin.endSession('id', '..', 'left')).toThrow(TypeError);
    expect(() => admin.endProgram('id', '..', 'left')).toThrow(TypeError);
    expect(() => admin.revokeInvitation('.', 'left')).toThrow(TypeError);
    expect(sent).toEqual([]);
  });
});
