import { createECDH, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { encryptWebPush, WEB_PUSH_BUDGET_BYTES } from './web-push-encryption.js';

const endpoint = 'https://push.example.net/push';

describe(encryptWebPush.name, () => {
  it('produces the bytes of RFC 8291, appendix A', () => {
    const file = join(import.meta.dirname, '../../../../test/vectors/web-push-rfc8291.json');
    const vector = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const bytes = (name: string): Buffer => Buffer.from(vector[name] ?? '', 'base64url');
    const ephemeral = createECDH('prime256v1');
    ephemeral.setPrivateKey(bytes('senderPrivateKey'));
    const keys = { p256dh: vector['browserPublicKey'] ?? '', auth: vector['auth'] ?? '' };
    const secrets = { salt: bytes('salt'), ephemeral };
    const body = encryptWebPush(Buffer.from(vector['text'] ?? ''), { endpoint, keys }, secrets);
    expect(body.toString('base64url')).toBe(vector['body']);
  });

  it('uses one record of at most 4,096 bytes', () => {
    const browser = createECDH('prime256v1').generateKeys('base64url');
    const keys = { p256dh: browser, auth: randomBytes(16).toString('base64url') };
    const longest = Buffer.alloc(WEB_PUSH_BUDGET_BYTES, 'x');
    expect(encryptWebPush(longest, { endpoint, keys })).toHaveLength(4096);
    expect(() => encryptWebPush(Buffer.alloc(3994), { endpoint, keys })).toThrow(RangeError);
  });
});
