import {
  type LoginChallenge,
  writeLoginChallenge,
} from '../../../core/protocol/login-challenge.js';
import { ChallengeRefused, checkLoginChallenge } from './login-challenge.js';

const NOW = 1_790_000_000_000;
const SERVER = 'https://gate.example';
const OWN: LoginChallenge = { origins: [SERVER], nonce: 'A'.repeat(43), expiresAt: NOW + 60_000 };

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const challengeFor = (change: Partial<LoginChallenge> = {}): string =>
  writeLoginChallenge({ ...OWN, ...change });

function reasonFor(challenge: string, serverUrl = SERVER): string {
  try {
    checkLoginChallenge(challenge, serverUrl, NOW);
    return 'signed';
  } catch (error) {
    expect(error).toBeInstanceOf(ChallengeRefused);
    return (error as ChallengeRefused).reason;
  }
}

describe(checkLoginChallenge.name, () => {
  it.each(['base64', 'base64url'] as const)('returns the bytes to sign, read as %s', (form) => {
    const text = challengeFor({ nonce: '-_'.padEnd(43, '0') });
    const bytes = checkLoginChallenge(Buffer.from(text).toString(form), SERVER, NOW);
    expect(Buffer.from(bytes).toString()).toBe(text);
  });

  it.each([
    [SERVER, [SERVER]],
    [`${SERVER}/behind/a/path`, [SERVER]],
    [`${SERVER}:443`, [SERVER]],
    ['https://GATE.example', [SERVER]],
    ['http://10.0.0.7:3000', [SERVER, 'http://10.0.0.7:3000']],
  ])('accepts a challenge from %s where %j are listed', (serverUrl, origins) => {
    expect(reasonFor(base64(challengeFor({ origins })), serverUrl)).toBe('signed');
  });

  it.each([
    ['https://evil.example', [SERVER]],
    ['http://gate.example', [SERVER]],
    [`${SERVER}:8443`, [SERVER]],
    [SERVER, ['https://gate.example.evil.example']],
    [SERVER, ['https://gate']],
    ['http://127.0.0.1:3000', [SERVER]],
    ['http://192.168.1.1', [SERVER]],
  ])('refuses a challenge from %s where %j are listed', (serverUrl, origins) => {
    expect(reasonFor(base64(challengeFor({ origins })), serverUrl)).toBe('other-server');
  });

  it.each([
    'http://localhost:3000',
    'http://gate.localhost',
    'http://127.0.0.1:3000',
    'http://127.1.2.3',
    'http://2130706433',
    'http://[::1]:3000',
    'http://10.1.2.3',
    'http://172.16.0.1',
    'http://172.31.255.255',
    'https://192.168.0.10',
    'http://169.254.1.1',
    'http://[fd12:3456::1]',
    'http://[fe80::1]',
    'http://[::ffff:10.0.0.1]',
  ])('signs a challenge without origins from %s', (serverUrl) => {
    expect(reasonFor(base64(challengeFor({ origins: [] })), serverUrl)).toBe('signed');
  });

  it.each([
    SERVER,
    'https://93.184.215.14',
    'http://172.32.0.1',
    'http://100.64.0.1',
    'http://0.0.0.0',
    'http://203.0.113.5',
    'http://[2001:db8::1]',
    'http://[2606:4700::1]',
    'http://[::ffff:93.184.215.14]',
    'http://[64:ff9b::10.0.0.1]',
    'http://gatehouse',
    'http://gate.local',
    'http://gate.internal',
    'http://10.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://notlocalhost',
  ])('refuses a challenge without origins from %s', (serverUrl) => {
    expect(reasonFor(base64(challengeFor({ origins: [] })), serverUrl)).toBe('other-server');
  });

  it.each([
    [0, 'signed'],
    // The clock is five minutes fast.
    [-299_999, 'signed'],
    [-300_000, 'expired'],
    [-86_400_000, 'expired'],
  ])('checks a challenge that expires in %i ms: %s', (ms, reason) => {
    expect(reasonFor(base64(challengeFor({ expiresAt: NOW + ms })))).toBe(reason);
  });

  it.each([
    ['AAAA', 'not-a-challenge'],
    ['', 'not-a-challenge'],
    ['not base64!', 'not-a-challenge'],
    ['A'.repeat(100_000), 'not-a-challenge'],
    [base64(`gatehouse-challenge-v1:${'x'.repeat(32)}`), 'not-a-challenge'],
    [base64(`${challengeFor()}\nmore`), 'not-a-challenge'],
    [base64(challengeFor().replace('gate.', 'gate\u202e.')), 'not-a-challenge'],
    [base64(challengeFor().replace('login-v1', 'login-v2')), 'other-version'],
  ])('refuses %j as %s', (challenge, reason) => {
    expect(reasonFor(challenge)).toBe(reason);
  });

  it('reports the server of the challenge, and the setting to change', () => {
    const relayed = base64(challengeFor({ origins: ['https://bank.example'] }));
    expect(() => checkLoginChallenge(relayed, SERVER, NOW)).toThrow(
      /challenge of https:\/\/gate\.example is for https:\/\/bank\.example\..*SERVICE_LOGIN_ORIGINS.*Nothing was signed/,
    );
  });

  it('reports a challenge that names no server', () => {
    const challenge = base64(challengeFor({ origins: [] }));
    expect(() => checkLoginChallenge(challenge, SERVER, NOW)).toThrow(
      /names no server, which only loopback and private IP addresses may\..*Nothing was signed/,
    );
  });
});
