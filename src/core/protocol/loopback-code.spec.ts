import { loopbackCode } from './loopback-code.js';

describe(loopbackCode.name, () => {
  it('matches docs/connect-a-client.md', () => {
    expect(loopbackCode('state')).toBe('LXLG-NGWS');
  });

  it('differs from one login to the next', () => {
    const codes = Array.from({ length: 1000 }, (_, index) => loopbackCode(`state ${index}`));
    expect(new Set(codes).size).toBe(1000);
    expect(codes.join('')).toMatch(/^(?:[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4})+$/);
  });
});
