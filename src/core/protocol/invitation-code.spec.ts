import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import {
  drawInvitationCode,
  invitationIn,
  invitationLink,
  readInvitationCode,
  showInvitationCode,
} from './invitation-code.js';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const draw = (bound: number): number => randomInt(bound);
const anyCode = fc
  .array(fc.nat(ALPHABET.length - 1), { minLength: 18, maxLength: 18 })
  .map((drawn) => {
    const left = [...drawn];
    return drawInvitationCode(() => left.shift() ?? 0);
  });

describe('an invitation code', () => {
  it('has 90 random bits in 18 characters of 32 letters', () => {
    const bounds: number[] = [];
    drawInvitationCode((bound) => {
      bounds.push(bound);
      return bound - 1;
    });
    expect(bounds).toEqual(Array(18).fill(32));
  });

  it('is shown in five groups', () => {
    expect(showInvitationCode(drawInvitationCode(() => 10))).toMatch(/^(AAAA-){4}AA\d\d$/);
    expect(showInvitationCode(drawInvitationCode(draw))).toMatch(
      /^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{2}\d\d$/,
    );
  });

  it('is read as people type it', () => {
    fc.assert(
      fc.property(anyCode, (code) => {
        const formatted = showInvitationCode(code);
        const typed = formatted.replaceAll('0', 'o').replaceAll('1', 'l').replaceAll('-', ' ');
        for (const text of [code, formatted, formatted.toLowerCase(), ` ${typed}\n`]) {
          expect(readInvitationCode(text)).toBe(code);
        }
      }),
    );
  });

  it('is refused with one wrong character', () => {
    fc.assert(
      fc.property(anyCode, fc.nat(19), fc.nat(31), (code, at, other) => {
        const character = ALPHABET.charAt(other);
        fc.pre(character !== code.charAt(at));
        const wrong = code.slice(0, at) + character + code.slice(at + 1);
        expect(readInvitationCode(wrong)).toBeNull();
      }),
    );
  });

  it('is refused with two characters exchanged', () => {
    fc.assert(
      fc.property(anyCode, fc.nat(18), (code, at) => {
        const [first, second] = [code.charAt(at), code.charAt(at + 1)];
        fc.pre(first !== second);
        const wrong = code.slice(0, at) + second + first + code.slice(at + 2);
        expect(readInvitationCode(wrong)).toBeNull();
      }),
    );
  });

  it.each(['', '-', 'AAAA', 'U'.repeat(20), '1'.repeat(5000), 'ÄÖÜ\0'])('is not %j', (text) => {
    expect(readInvitationCode(text)).toBeNull();
  });
});

describe('the link of an invitation', () => {
  const page = { publicUrl: 'https://gate.example/home', accountPageEnabled: true };

  it('contains the code in its fragment', () => {
    fc.assert(
      fc.property(anyCode, (code) => {
        const link = new URL(invitationLink(page, showInvitationCode(code)) ?? '');
        expect(`${link.origin}${link.pathname}${link.search}`).toBe(
          'https://gate.example/home/app',
        );
        expect(readInvitationCode(invitationIn(link.hash) ?? '')).toBe(code);
      }),
    );
  });

  it('is null where the server has no page, or no known address', () => {
    expect(invitationLink({ ...page, publicUrl: null }, 'X')).toBeNull();
    expect(invitationLink({ ...page, accountPageEnabled: false }, 'X')).toBeNull();
  });

  it.each([
    ['', null],
    ['#security', null],
    ['#invitation', null],
    ['#invitation=', ''],
    ['#invitation=7MZK-Q0TD', '7MZK-Q0TD'],
    ['#invitation=<b>%20"', 'b20'],
    [`#invitation=${'A'.repeat(70)}`, 'A'.repeat(64)],
  ])('reads from the fragment %j the code %j', (hash, code) => {
    expect(invitationIn(hash)).toBe(code);
  });
});
