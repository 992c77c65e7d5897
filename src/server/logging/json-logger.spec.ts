import { JsonLogger } from './json-logger.js';

describe(JsonLogger.name, () => {
  function logged(message: unknown): Record<string, unknown> {
    let line = '';
    new JsonLogger('info', { write: (text) => (line += text) }).log(message);
    return JSON.parse(line) as Record<string, unknown>;
  }

  it('writes no secret at any level', () => {
    const cookie = 'a-secret';
    let nested: Record<string, unknown> = { cookie };
    for (let level = 0; level < 10; level += 1) {
      nested = { cookie, list: [nested, { token: [cookie] }] };
    }
    expect(logged({ nested, proof: { cookie } })).toMatchObject({
      proof: '[redacted]',
      nested: { cookie: '[redacted]', list: [{ cookie: '[redacted]' }, { token: '[redacted]' }] },
    });
    const text = JSON.stringify(logged({ nested }));
    expect(text).toContain('[Object]');
    expect(text).not.toContain(cookie);
  });

  it('writes times, numbers and what refers to itself', () => {
    const own: Record<string, unknown> = { at: new Date(0), count: 2, none: null };
    own['own'] = own;
    const { at, count, none } = logged(own);
    expect([at, count, none]).toEqual(['1970-01-01T00:00:00.000Z', 2, null]);
  });
});
